#!/usr/bin/env python3
"""Holds docs/file-format.md to libmpiprof/format/layout.h: every table id, every field, every size that is asserted.

file_format.py LAYOUT_H PAGE
"""

import re
import sys

# The record of each table that has one.
RECORDS = {"calls": "CallRecord", "counters": "Counter", "cells": "Cell", "histograms": "Histogram", "histogram_blocks": "HistogramBlock",
           "sites": "Site", "frames": "Frame", "modules": "Module", "communicators": "Communicator", "threads": "Thread",
           "settings": "Setting", "facts": "Fact", "regions": "Region", "activity": "Activity", "peers": "Peer", "trace": "TraceEvent",
           "nccl_operations": "NcclOperation", "gpu_times": "GpuTime", "gpu_sequences": "GpuSequence", "gpu_work": "GpuWork",
           "node_counters": "NodeCounter", "network_use": "NetworkUse", "requests": "Request"}
ELSEWHERE = {"Flow": "13 peers", "TraceHead": "21 trace", "Header": "Header", "Drops": "Header", "ResourceUse": "Header", "Anchor": "Header", "Directory": "Directory", "Table": "Directory"}


def sections_of(page):
    """{heading: text}; the text of a heading goes on over the headings below it."""
    parts = re.split(r"^(##+ .*)$", page, flags=re.M)
    sections, open_ones = {}, []
    for heading, text in zip(parts[1::2], parts[2::2]):
        level, title = len(heading.split()[0]), heading.lstrip("# ").strip()
        open_ones = [(other, name) for other, name in open_ones if other < level] + [(level, title)]
        for _, name in open_ones: sections[name] = sections.get(name, "") + "\n" + text
    return sections


def fields_of(layout, struct):
    body = re.search(r"^struct %s \{(.*?)^\};" % struct, layout, re.M | re.S)
    if not body: sys.exit("layout.h has no struct %s" % struct)
    lines = [line.split("//")[0].strip() for line in body[1].splitlines()]
    return [re.match(r"[\w:]+ (\w+)(\[\w+\])*;", line)[1] for line in lines if line]


def problems(layout, page):
    sections = sections_of(page)
    enum = re.search(r"enum class TableType[^{]*\{(.*?)\};", layout, re.S)[1]
    tables = {name: int(number) for name, number in re.findall(r"^\s*(\w+) = (\d+),", enum, re.M)}
    for name, number in tables.items():
        if name != "none" and "%d %s" % (number, name) not in sections: yield "table %d, %s, has no section" % (number, name)
    for title in sections:
        found = re.match(r"(\d+) (\w+)$", title)
        if found and tables.get(found[2]) != int(found[1]): yield "section %s is no table" % title
    places = {record: "%d %s" % (tables[name], name) for name, record in RECORDS.items()}
    places.update(ELSEWHERE)
    for record, place in places.items():
        text = sections.get(place, "")
        for field in fields_of(layout, record):
            if not re.search(r"\b%s\b" % field, text): yield "%s::%s is not in section %s" % (record, field, place)
        size = re.search(r"sizeof\(%s\) == (\d+)" % record, layout)
        if size and place not in ("Header", "Directory") and not re.search(r"\b%s\s+bytes" % size[1], text):
            yield "section %s does not say that a record has %s bytes" % (place, size[1])
    for record in ("Header", "Directory", "Table"):
        size = re.search(r"sizeof\(%s\) == (\d+)" % record, layout)[1]
        if "%s bytes" % size not in page: yield "the page does not say that %s has %s bytes" % (record, size)
    for field, at in re.findall(r"offsetof\(Header, (\w+)\) == (\d+)", layout):
        row = re.search(r"^\| (\d+) \|[^|]*`%s`" % field, sections.get("Header", ""), re.M)
        if row and row[1] != at: yield "Header::%s is at %s, not %s" % (field, at, row[1])


def main():
    with open(sys.argv[1], encoding="utf-8") as layout, open(sys.argv[2], encoding="utf-8") as page:
        found = list(problems(layout.read(), page.read()))
    print("\n".join(found) if found else "the page and layout.h agree")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
