"""The page of `mpiprof-report html`, as a browser takes it: well formed, its style and script are those that its policy lets
in, it names nothing outside itself; and its numbers are those of the tables. Names as an enemy gives them: hostile_test.cpp.

  page.py REPORT WRITE_STORIES
"""

import base64
import hashlib
import html
import html.parser
import json
import re
import sys

import workbench

MOST_BYTES, MOST_ELEMENTS = 250_000, 20_000  # without data
EMPTY = {"meta", "rect", "path", "polyline", "polygon", "circle", "line", "input"}


class Reader(html.parser.HTMLParser):
    """Elements, texts and what is wrong with their nesting."""

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.elements, self.raw, self.ids, self.links = [], [], 0, {"style": [], "script": []}, [], []
        self.policy, self.rows, self.text = None, {}, []
        self.table = None
        self.feed(text)
        if self.open: self.wrong.append("not closed: %s" % self.open)

    def handle_starttag(self, tag, attributes):
        self.elements += 1
        values = dict(attributes)
        if tag == "li" and (not self.open or self.open[-1] != "ul"): self.wrong.append("an item without a list")
        if tag not in EMPTY: self.open.append(tag)
        if tag == "meta" and values.get("http-equiv") == "Content-Security-Policy": self.policy = values["content"]
        if "id" in values: self.ids.append(values["id"])
        for name, value in attributes:
            if name in ("src", "srcset", "data", "action", "style") or name.startswith("on"): self.wrong.append("<%s %s>" % (tag, name))
            if name == "href": self.links.append(value)
        if tag == "table": self.table = values["id"]
        if tag == "td" and self.table and "thead" not in self.open: self.rows[self.table][-1].append([values.get("data-v"), ""])
        if tag == "tr" and self.table: self.rows.setdefault(self.table, []).append([])

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in EMPTY: self.open.pop()

    def handle_endtag(self, tag):
        if tag in EMPTY: return
        if not self.open or self.open[-1] != tag: self.wrong.append("</%s> within %s" % (tag, self.open))
        else: self.open.pop()
        if tag == "table": self.table = None

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw: self.raw[self.open[-1]].append(data)
        else: self.text.append(data)
        if self.open and self.open[-1] == "td" and self.table and "thead" not in self.open: self.rows[self.table][-1][-1][1] += data


def hash_of(parts):
    return "'sha256-%s'" % base64.b64encode(hashlib.sha256("".join(parts).encode()).digest()).decode()


def wrong_with(text, page, is_for_mail):
    yield from page.wrong
    if not page.policy or "default-src 'none'" not in page.policy: yield "it has no policy"
    elif hash_of(page.raw["style"]) not in page.policy: yield "its policy does not let its style in"
    elif is_for_mail != (not page.raw["script"]): yield "a script, or none"
    elif page.raw["script"] and hash_of(page.raw["script"]) not in page.policy: yield "its policy does not let its script in"
    for twice in {one for one in page.ids if page.ids.count(one) > 1}: yield "two elements are #%s" % twice
    for link in page.links:
        if not link.startswith("#") or link[1:] not in page.ids: yield "a link to %s" % link
    outside = re.sub(r'xmlns="http://www\.w3\.org/2000/svg"', "", text)
    if re.search(r"https?://|url\(|@import", outside): yield "it names an address"
    if page.elements > MOST_ELEMENTS or len(text) > MOST_BYTES: yield "%d elements, %d bytes" % (page.elements, len(text))


SECTIONS = ("summary", "calls", "sites", "ranks", "budget", "steps", "regions", "arrivals", "nccl", "hang")
ON_SCREEN_ALONE = {("ranks", "nodes"), ("summary", "job"), ("summary", "verdict"), ("regions", "regions")}  # a screen has other sums


def numbers_in(values):
    return [value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)]


def is_among(number, numbers):
    return any(abs(number - other) <= 1e-5 * max(abs(number), abs(other)) for other in numbers)


def private_words(report, directory):
    """What a private page of the job may not have: names of people's things, as the whole page's data have them."""
    job = json.loads(workbench.reported(report, "export", "-f", "json", directory))
    summary = json.loads(workbench.reported(report, "summary", "--format", "json", directory))["job"]
    words = {summary["command"], *(key[6:] + "=" + str(value) for key, value in summary.items() if key.startswith("label."))}
    words |= {rank.get("host") for rank in job["ranks"]}
    words |= {site.get(key) for site in json.loads(workbench.reported(report, "sites", "--format", "json", directory))["sites"] for key in ("function", "file", "module")}
    words |= {region["region"] for region in json.loads(workbench.reported(report, "regions", "--format", "json", directory)).get("regions", [])}
    words |= {one["name"] for one in json.loads(workbench.reported(report, "comms", "--format", "json", directory))["comms"]}
    return {word for word in words if word and len(word) > 3 and not word.startswith(("MPI_", "ncclComm"))}


def main():
    report, write_stories = sys.argv[1:]
    jobs = workbench.Jobs(write_stories)
    wrong, pages, compared, private = [], 0, 0, 0
    # Names that are words of ours, too ("rows").
    ours = workbench.reported(report, "html", "--private", "-o", "-", jobs.directory("seed003_cpu"))
    for job in jobs:
        for words in (["--data", "none"], ["--mail"], ["--data", "none", "--against", jobs.directory("seed003_cpu")]):
            text = workbench.reported(report, "html", *words, "-o", "-", jobs.directory(job))
            page = Reader(text)
            pages += 1
            wrong += ["%s: %s" % (job, what) for what in wrong_with(text, page, words == ["--mail"])]
        text = workbench.reported(report, "html", "--private", "-o", "-", jobs.directory(job))
        wrong += ["%s: private: %s" % (job, what) for what in wrong_with(text, Reader(text), False)]
        words, whole = {word for word in private_words(report, jobs.directory(job)) if word not in ours}, workbench.reported(report, "html", "-o", "-", jobs.directory(job))
        private += sum(html.escape(word) in whole for word in words)
        wrong += ["%s: its private page has %s" % (job, word) for word in words if html.escape(word) in text]
        # Each finding with its tag, as the summary has it.
        shown = re.sub(r"\s+", " ", "".join(page.text))
        for finding in json.loads(workbench.reported(report, "summary", "--format", "json", jobs.directory(job)))["findings"]:
            said = "%s [%s]" % (re.sub(r"\s+", " ", finding["text"]), finding["rule"])
            if said not in shown: wrong.append("%s: not on the page: %s" % (job, said))
        # Each row of a table is one that the section has as data.
        for section in SECTIONS:
            data = json.loads(workbench.reported(report, section, "--format", "json", jobs.directory(job)))
            for name in data:
                rows = [numbers_in(row.values()) for row in data[name]] if isinstance(data[name], list) and (section, name) not in ON_SCREEN_ALONE else []
                for cells in page.rows.get("%s-%s" % (section, name), []) if rows else []:
                    shown = [float(value) for value, _ in cells if value]
                    compared += bool(shown)
                    if not any(all(is_among(number, row) for number in shown) for row in rows): wrong.append("%s: a row of %s: %s is none of its rows" % (job, section, sorted(shown)))
    for line in wrong: print(line)
    print("%d pages, %d rows compared, %d private words, %d wrong" % (pages, compared, private, len(wrong)))
    sys.exit(1 if wrong or compared < 200 or private < 20 else 0)


if __name__ == "__main__":
    main()
