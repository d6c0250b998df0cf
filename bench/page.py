#!/usr/bin/python3
"""The section `page`: the bytes of the web page, and its first paint in Chromium.

  bench/page.py [--quick]

`ringfence serve` shows the demo's loop. The page is loaded many times, with an empty cache each time, in a browser that
is running; what counts is the median of the times from the start of the navigation to the first paint of content. The
first one is not counted.
"""

import argparse
import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[0] = os.path.join(ROOT, "tests")

from harness.browser import CHROMIUM, Driver, wait_for_link  # noqa: E402

RINGFENCE = os.path.join(ROOT, "build/ringfence")
WEIGHT_KB, PAINT_MS = 150, 300  # the goals
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length > 0"
FIGURES = """() => ({
    paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
    bytes: [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .filter((each) => !each.name.includes('/api/')).reduce((sum, each) => sum + each.decodedBodySize, 0),
})"""


def load(driver, url):
    """Loads the page in a new window; returns its figures."""
    figures = None
    for what, of in (("again", {"url": url}), ("see", {"selector": "main .page"}), ("until", {"script": PAINTED}), ("run", {"script": FIGURES})):
        figures, error = driver.ask(what, **of)
        if error:
            raise RuntimeError(f"{what}: {error}")
    return figures


def measure(state, packages, rounds):
    env = os.environ | {"RINGFENCE_STATE_DIR": state}
    with subprocess.Popen([RINGFENCE, "serve", "--port", "0"], stdout=subprocess.PIPE, env=env) as server:
        port, link = wait_for_link(server.stdout)
        driver = Driver(subprocess.Popen, packages, **os.environ)
        driver.ask("open", width=1180, height=900, dark=False, reduced=True)
        driver.ask("goto", url=link)
        found = [load(driver, f"http://127.0.0.1:{port}/") for _ in range(rounds + 1)][1:]
        driver.ask("close")
        driver.close()
        server.terminate()
    return found


def verdict(good):
    return "as it should be" if good else "MISSED"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 5 if parser.parse_args().quick else 30
    packages = subprocess.check_output([os.path.join(ROOT, "tests/web/install")], text=True).strip()
    if not packages or not os.path.exists(CHROMIUM) or not shutil.which("node"):
        print("page: not measured: Chromium, Node.js or npm is missing")
        return
    with tempfile.TemporaryDirectory() as top:
        subprocess.run([RINGFENCE, "demo", "--keep"], env=os.environ | {"TMPDIR": top}, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        (state,) = glob.glob(os.path.join(top, "*/state"))
        found = measure(state, packages, rounds)
    weight = found[0]["bytes"] / 1000
    paint = statistics.median(each["paint"] for each in found)
    print(f"the web page, {rounds} loads")
    print(f"  bytes, not compressed: {weight:.0f} kB (goal: under {WEIGHT_KB} kB): {verdict(weight < WEIGHT_KB)}")
    print(f"  first paint: {paint:.0f} ms (goal: under {PAINT_MS} ms): {verdict(paint < PAINT_MS)}")


if __name__ == "__main__":
    main()
