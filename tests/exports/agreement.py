"""No two screens of one job disagree: what the report begins with, what it costs, how much is inside MPI and whether the
profile is complete, from every command and format that says so.

  agreement.py REPORT WRITE_STORIES DEMOS      and of the recorded jobs, of which one is proven to hang
"""

import glob
import json
import os
import re
import sys

import workbench


def share_in(text):
    """"40.5% of the run is inside MPI" and the like, as printed."""
    found = re.search(r"(<?[0-9.]+)% of the (?:run|recorded time)[^.]* inside (?:MPI|NCCL|MPI and NCCL)", text)
    return found.group(1) if found else None


def main():
    report, write_stories, demos = sys.argv[1:]
    jobs = workbench.Jobs(write_stories)
    places = [jobs.directory(job) for job in jobs] + sorted(glob.glob(os.path.join(demos, "*.mpiprof")))
    wrong, compared, hung = [], 0, 0

    for place in places:
        job = os.path.basename(place)

        def said(*words, place=place): return workbench.reported(report, *words, place)
        screen = re.sub(r"\s+", " ", said("summary", "--width", "100"))
        brief = re.sub(r"\s+", " ", said("--brief"))
        data = json.loads(said("summary", "--format", "json"))
        whole = json.loads(said("export", "-f", "json"))
        line = json.loads(said("export", "-f", "line"))
        hang = json.loads(said("hang", "--format", "json"))["hang"]

        def same(what, *values):
            nonlocal compared
            compared += 1
            if any(value != values[0] for value in values): wrong.append("%s: %s: %s" % (job, what, ", ".join(map(repr, values))))

        verdict = data["verdict"]
        first_tag = re.search(r"\[([a-z-]+)\]", screen).group(1)
        same("the rule", verdict["rule"], line["verdict"]["rule"], whole["verdicts"][0]["rule"], first_tag,
             re.search(r"\[([a-z-]+)\]", brief).group(1))
        same("its sentence", verdict["text"][:60], screen.strip()[:60])
        same("what it costs", verdict["cost_ns"], line["verdict"]["cost_ns"], whole["verdicts"][0]["cost_ns"])
        same("its share", "%.9f" % (verdict["run_share"] or 0), "%.9f" % line["verdict"]["run_share"])
        same("its ranks", verdict["ranks"] or "", line["verdict"]["ranks"])
        for finding in [data["verdict"]] + data["findings"]:
            if finding["rule"] == verdict["rule"] and finding.get("cost_ns") and not finding.get("because"):
                same("the cost of a finding", finding["cost_ns"], verdict["cost_ns"])
        texts = [finding["text"] for finding in data["findings"]]
        same("findings, each said once", len(texts), len(set(texts)))
        same("complete", data["job"]["complete"], line["completeness"]["is_complete"], "profile complete" in screen)
        if "profiles:" in brief: same("complete, in brief", data["job"]["complete"], "profile complete" in brief)
        same("profiles", data["job"]["profiles"], line["completeness"]["profiles"], whole["profiles"])
        same("unfinished ranks", data["job"]["unfinished"], line["completeness"]["running"] + line["completeness"]["unfinished"])
        same("a proven hang", hang["is_proven"], verdict["rule"] == "hang")
        hung += hang["is_proven"]
        if share_in(screen) and share_in(brief): same("the share inside", share_in(screen), share_in(brief))
        # The bar divides the run: what is inside MPI in it is what the sentence above says.
        inside = sum(part["share"] for part in data["shares"]
                     if part["part"] in ("waiting", "moving", "waiting_or_moving", "file", "other", "unreturned"))
        if data["shares"] and data["job"]["background_share"] == 0 and abs(inside - line["mpi_share"]) > 0.01:
            wrong.append("%s: the bar has %.4f inside, the line %.4f" % (job, inside, line["mpi_share"]))
    for one in wrong: print(one)
    print("%d figures of %d jobs" % (compared, len(places)))
    sys.exit(1 if wrong or compared < 100 or hung == 0 else 0)


if __name__ == "__main__": main()
