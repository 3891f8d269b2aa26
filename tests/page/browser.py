"""The page in a browser, Chromium without a window: nothing is refused or complained of, nothing is asked of anybody, a table
is sorted and filtered as the address says, a rank is gone to, call paths zoom, it prints, and it says the same without script.

  browser.py REPORT JOB
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ELSEWHERE = r'<figure>.*?</figure>|<form>.*?</form>|<header>.*?</header>|<button[^>]*class="copy".*?</button>|<(script|style).*?</\1>|<[^>]*>'
CLICK = """<script>
const frames = [...document.querySelectorAll(".icicle g")], last = frames[frames.length - 1];
last.dispatchEvent(new MouseEvent("click", { bubbles: true }));
document.body.dataset.clicked = last.querySelector("rect").getAttribute("width");
const box = document.querySelector('[placeholder="find in call paths"]');
box.value = "allreduce";
box.dispatchEvent(new Event("input"));
document.body.dataset.found = document.querySelectorAll(".icicle .found").length;
</script>"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main():
    report, job = sys.argv[1:]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        print("skipped: no browser here (package chromium)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        wrong = []

        def page(name, *words):
            path = os.path.join(home, name)
            subprocess.run([report, "-q", "html", *words, "-o", path, job], check=True)
            return "file://" + path

        def ran(*words):
            run = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.join(home, "profile"), "--enable-logging=stderr",
                                  "--proxy-server=127.0.0.1:9", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
            complaints = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
            if complaints: wrong.append("it complains: %s" % complaints)
            return run.stdout

        whole = page("whole.html")
        dom = ran("--dump-dom", whole)
        if not re.search(r'<button[^>]*class="copy"', dom): wrong.append("its script did not run")

        def calls_of(dom):
            table = re.search(r'<table id="calls-calls".*?</table>', dom, re.S).group(0)
            rows = re.findall(r"<tr( hidden=\"\")?>(<td.*?)</tr>", table, re.S)
            return table, [(bool(hidden), re.findall(r"<td[^>]*?(?:data-v=\"([^\"]*)\")?>([^<]*)", row)) for hidden, row in rows]
        table, rows = calls_of(dom)
        heads = [re.sub("<[^>]*>", "", head) for head in re.findall(r"<th.*?</th>", table, re.S)]
        at = heads.index("CALLS")
        for order, mark in (("a", "ascending"), ("d", "descending")):
            table, rows = calls_of(ran("--dump-dom", "%s#calls-calls~sort=%d%s" % (whole, at, order)))
            values = [float(row[at][0]) for _, row in rows]
            if values != sorted(values, reverse=order == "d") or len(set(values)) < 2: wrong.append("sorted %s: %s" % (mark, values))
            if 'aria-sort="%s"' % mark not in table: wrong.append("nothing says that it is sorted")
        filtered = ran("--dump-dom", whole + "#settings-settings~find=clock")
        table = re.search(r'<table id="settings-settings".*?</table>', filtered, re.S).group(0)
        shown = re.findall(r"<tr>(<td.*?)</tr>", table, re.S)
        if not shown or not all("CLOCK" in row for row in shown) or "hidden" not in table: wrong.append("filtered: %d rows are shown" % len(shown))

        ranks = re.search(r'<section id="ranks".*?</section>', ran("--dump-dom", whole + "#rank=2"), re.S).group(0)
        here = re.findall(r'<tr class="here">(<td.*?)</td>', ranks, re.S)
        if len(here) != 1 or 'data-v="2"' not in here[0]: wrong.append("gone to rank 2: %s" % here)
        if "not among the rows" not in ran("--dump-dom", whole + "#rank=99"): wrong.append("gone to rank 99: nothing is said")

        # A frame fills the picture when it is clicked: what the script has drawn anew has no fraction of a share.
        clicked = re.sub(r"<meta http-equiv=.*?>\n", "", open(whole[7:], encoding="utf-8").read(), count=1).replace("</body>", CLICK + "</body>")
        with open(os.path.join(home, "clicked.html"), "w", encoding="utf-8") as file: file.write(clicked)
        drawn = ran("--dump-dom", "file://" + os.path.join(home, "clicked.html"))
        if "data-clicked=\"1000\"" not in drawn: wrong.append("a frame that is clicked does not fill the picture: %s" % re.findall('data-clicked="[^"]*"', drawn))
        if "data-found=\"0\"" in drawn or "data-found" not in drawn: wrong.append("no frame is found by its name")

        apart = page("apart/") + "index.html"
        if not re.search(r'<button[^>]*class="copy"', ran("--dump-dom", apart)): wrong.append("the script that lies beside a page does not run")

        mail = ran("--dump-dom", page("mail.html", "--mail"))
        if "<script" in mail or "<button" in mail: wrong.append("the page for mail has a script")
        text = lambda dom: re.sub(r"\s+", " ", re.sub(ELSEWHERE, " ", dom, flags=re.S))
        if text(mail) != text(dom): wrong.append("the page says something else without its script")

        printed = os.path.join(home, "page.pdf")
        ran("--print-to-pdf=" + printed, whole)
        if not os.path.exists(printed) or os.path.getsize(printed) < 10_000: wrong.append("it does not print")
        for line in wrong: print(line)
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
