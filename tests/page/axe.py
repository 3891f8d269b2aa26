"""What axe-core finds on pages in Chromium, in light and dark colours: contrast, names of what can be operated, headings,
roles. axe is fetched by npm for the test alone.

  axe.py REPORT JOB...
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
RUN = """<script>%s</script><script>
document.documentElement.dataset.theme = "%s";
axe.run().then((found) => {
  const said = document.createElement("pre");
  said.id = "axe-found";
  said.textContent = JSON.stringify([found.passes.length, found.violations.map((one) => [one.id, one.impact, one.nodes.length, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary])]);
  document.body.append(said);
});
</script>"""


def fetched(home):
    """The text of axe.min.js, or None."""
    npm = shutil.which("npm")
    if not npm or subprocess.run([npm, "pack", "--silent", "axe-core"], cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode: return None
    package = next(name for name in os.listdir(home) if name.endswith(".tgz"))
    return subprocess.run(["tar", "-xzOf", package, "package/axe.min.js"], cwd=home, stdout=subprocess.PIPE, check=True).stdout.decode()


def main():
    report, *jobs = sys.argv[1:]
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as home:
        axe = browser and fetched(home)
        if not axe:
            print("skipped: %s" % ("axe-core cannot be fetched (npm pack axe-core)" if browser else "no browser here (package chromium)"))
            sys.exit(SKIPPED)
        wrong = 0
        for job in jobs:
            page = subprocess.run([report, "-q", "html", "--data", "none", "-o", "-", job], stdout=subprocess.PIPE, check=True).stdout.decode()
            # Its policy would keep axe out.
            page = re.sub(r"<meta http-equiv=.*?>\n", "", page, count=1)
            for theme in ("light", "dark"):
                path = os.path.join(home, "page.html")
                with open(path, "w", encoding="utf-8") as file: file.write(page.replace("</body>", RUN % (axe, theme) + "</body>"))
                ran = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + os.path.join(home, "profile"), "--proxy-server=127.0.0.1:9",
                                      "--virtual-time-budget=60000", "--dump-dom", "file://" + path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=300, check=False)
                found = re.search(r'<pre id="axe-found">(.*?)</pre>', ran.stdout, re.S)
                if not found: sys.exit("%s, %s: axe did not end" % (job, theme))
                passes, violations = json.loads(html.unescape(found.group(1)))
                for violation in violations: print("%s, %s: %s" % (os.path.basename(job), theme, violation))
                wrong += len(violations) + (passes < 10)
                print("%s, %s: %d rules passed, %d violated" % (os.path.basename(job), theme, passes, len(violations)))
        sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
