"""As much of PyTorch as tests/gpu/scenes.py uses, on the doubles of NCCL and CUDA: so that tests/gpu/run itself is tested where there
is no GPU. Nothing is computed. torch.distributed makes the calls."""

import ctypes
import types

__version__ = "double"
version = types.SimpleNamespace(cuda="13.0")


uint8 = "uint8"


class Tensor:
    def __init__(self, elements, dtype=None):
        self.elements, self.dtype = elements, dtype

    def mul_(self, _):
        return self

    def cpu(self):
        return self


def ones(elements, dtype=None, device=None):
    return Tensor(elements, dtype)


cuda = types.SimpleNamespace(is_available=lambda: True, device_count=lambda: 1, set_device=lambda _: None, get_device_name=lambda _: "double",
                             synchronize=lambda: ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(None),
                             nccl=types.SimpleNamespace(version=lambda: (2, 28, 9)))
