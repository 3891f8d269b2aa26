#!/usr/bin/env python3
"""What one cuPointerGetAttributes costs on this driver, for device and for host memory: pointer_cost.py. Prints one line of JSON
with nanoseconds. Through ctypes, whose own cost is measured by a call that does nothing and taken off."""

import ctypes
import json
import time

MEMORY_TYPE, DEVICE_ORDINAL, IS_MANAGED = 2, 9, 8
CALLS = 20_000


def nanoseconds(call):
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter_ns()
        for _ in range(CALLS): call()
        best = min(best, (time.perf_counter_ns() - began) / CALLS)
    return best


def main():
    cuda = ctypes.CDLL("libcuda.so.1")
    context, device = ctypes.c_void_p(), ctypes.c_uint64()
    for code in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context),
                 cuda.cuMemAlloc_v2(ctypes.byref(device), ctypes.c_size_t(1 << 20))):
        if code: raise SystemExit(f"CUDA error {code}")
    host = ctypes.create_string_buffer(1 << 16)
    kinds = (ctypes.c_int * 3)(MEMORY_TYPE, IS_MANAGED, DEVICE_ORDINAL)
    values = [ctypes.c_uint32() for _ in range(3)]
    places = (ctypes.c_void_p * 3)(*(ctypes.addressof(v) for v in values))
    ask = cuda.cuPointerGetAttributes
    ask.argtypes = [ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64]
    nothing = cuda.cuDriverGetVersion
    nothing.argtypes = [ctypes.c_void_p]
    version = ctypes.c_int()
    base = nanoseconds(lambda: nothing(ctypes.addressof(version)))
    print(json.dumps({name: round(nanoseconds(lambda p=pointer: ask(3, kinds, places, p)) - base)
                      for name, pointer in (("device_ns", device.value), ("host_ns", ctypes.addressof(host)))}))


if __name__ == "__main__":
    main()
