"""Runs the code blocks of Markdown files: run_doc.py BINARY FILE.md...

Each file gets a fresh clone, a running server and one shell:

- `sh` blocks run one after the other in one shell, `python` blocks in one Python process with `requests`.
  Both run in a temporary folder with `examples` and `docs` of the clone.
- `127.0.0.1:8787` is replaced by the address of a fresh server of BINARY with its data in `./data`. `uptake`
  runs BINARY. UPTAKE_URL is set to the address, for the programs in `examples`.
- A failing command fails the page, and so does an HTTP status of 400 or above (curl's `fail-with-body`).
- A `json` block after a command, under the same heading, is part of the last command's output: every field
  must have this value, lists may have more items, numbers are compared to the written digits, and `…` matches
  anything. Every line of a `text` block must have been printed.
- A word after the language changes this: `sh server` (`make run` or `make demo`) restarts the server;
  `sh fails` must fail; `sh skip: WHY` is not run.

Other blocks are ignored.
"""

import contextlib
import io
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
from doc_blocks import RUN, blocks_of, difference  # noqa: E402

CLONE = Path(__file__).resolve().parent.parent
ADDRESS = "127.0.0.1:8787"
# Commands take less than a second; this ends hanging ones.
TIMEOUT_SECS = 180


class Failed(Exception):
    """A block failed or its output differs from the page."""


class Reader:
    """Runs the blocks of one page in order."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.port, self.server = binary, folder, 0, None
        self.names = {"__name__": "__page__"}
        tools = folder / ".tools"
        tools.mkdir()
        (tools / "uptake").symlink_to(binary)
        (tools / ".curlrc").write_text("fail-with-body\n")
        for name in ["examples", "docs"]:
            (folder / name).symlink_to(CLONE / name)
        mine = {name: value for name, value in os.environ.items() if not name.startswith("UPTAKE_")}
        path = [str(tools), str(Path(sys.executable).parent), mine["PATH"]]
        self.environment = mine | {
            "PATH": os.pathsep.join(path), "CURL_HOME": str(tools), "UPTAKE__LOG__LEVEL": "warn"}
        self.serve("data")
        self.environment["UPTAKE_URL"] = f"http://127.0.0.1:{self.port}"
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"], cwd=folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

    def serve(self, data):
        """Starts a server on this folder; later servers of a page use the same address."""
        self.stop()
        command = [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--data", data]
        with open(self.folder / "server.log", "a") as log:
            self.server = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=log)
        line = self.server.stdout.readline()
        if not line.startswith("listening on "):
            raise Failed(f"the server did not start: {(self.folder / 'server.log').read_text()}")
        self.port = int(line.rsplit(":", 1)[1])

    def stop(self):
        """Stops the server with SIGINT and checks its exit code."""
        if self.server is not None:
            self.server.send_signal(signal.SIGTERM)
            if self.server.wait(TIMEOUT_SECS) != 0:
                raise Failed(f"the server ended with {self.server.returncode}")
            self.server = None

    def run(self, block):
        """Runs a block and returns its output."""
        text = block.text.replace(ADDRESS, f"127.0.0.1:{self.port}")
        if block.mark == "server":
            return self.start_over(text.split("#")[0].strip())
        if block.mark not in ("", "fails"):
            raise Failed(f"unknown mark: {block.mark!r}")
        if block.language == "python":
            return self.run_python(block, text)
        return self.run_shell(block, text)

    def start_over(self, command):
        if command == "make demo":
            # With less demo data, which is enough for the checks.
            small = ["demo", "--data", "demo-data", "--conversations", "40"]
            subprocess.run([self.binary, *small], cwd=self.folder, env=self.environment, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.serve("demo-data")
        elif command == "make run":
            self.serve("data")
        else:
            raise Failed(f"a server is started by `make run` or `make demo`, not by {command!r}")
        return ""

    def run_python(self, block, text):
        printed = io.StringIO()
        try:
            os.chdir(self.folder)
            with contextlib.redirect_stdout(printed):
                # Blank lines before the code, so that a traceback has the line numbers of the page.
                exec(compile("\n" * (block.line - 1) + text, "page", "exec"), self.names)
        except Exception:  # whatever a page's code raises
            raise Failed(f"{traceback.format_exc(limit=-2)}printed: {printed.getvalue()}") from None
        finally:
            os.chdir(CLONE)
        return printed.getvalue()

    def run_shell(self, block, text):
        out, err, script = (self.folder / ".tools" / name for name in ("out", "err", "script"))
        script.write_text(text)
        err.write_text("")
        # Errors name the line of the page. A block that must fail must not end the shell.
        keep, trap = "set +e", "trap - ERR"
        if block.mark != "fails":
            keep, trap = "set -eE", f"trap 'echo \"at line $((LINENO + {block.line - 1}))\" >&2' ERR"
        self.shell.stdin.write(f"{trap}; {keep}; . {script} </dev/null >{out} 2>{err}; echo done $?; set +e\n")
        self.shell.stdin.flush()
        said = self.wait_for_line()
        printed = out.read_text() if out.exists() else ""
        if (said != "done 0") == (block.mark != "fails"):
            why = "the block did not fail" if block.mark == "fails" else "the block failed"
            raise Failed(f"{why}\nprinted: {printed}\nstderr: {err.read_text()}")
        return printed

    def wait_for_line(self):
        """The next line of the shell; empty when it has ended."""
        if not select.select([self.shell.stdout], [], [], TIMEOUT_SECS)[0]:
            raise Failed(f"timeout: not done after {TIMEOUT_SECS} s")
        return self.shell.stdout.readline().strip()

    def end_shell(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.shell.pid, signal.SIGKILL)

    def leave(self):
        self.end_shell()
        if self.server is not None:
            self.server.kill()
            self.server.wait()


def read(binary, page):
    """Runs all blocks of a page. Returns the number run, the number compared, and the skipped ones."""
    ran, compared, line, reader = 0, 0, 1, None
    with tempfile.TemporaryDirectory() as folder:
        try:
            blocks = [block for block in blocks_of(Path(page).read_text()) if block.language in RUN]
            skipped = [block.mark[6:] for block in blocks if block.mark.startswith("skip: ")]
            for block in blocks:
                if block.mark.startswith("skip: "):
                    continue
                line = block.line
                reader = reader or Reader(binary, Path(folder))
                printed = reader.run(block)
                ran += 1
                if block.answer is not None:
                    compared += 1
                    line = block.answer.line
                    if (why := difference(block.answer, printed)) is not None:
                        raise Failed(f"{why}\nprinted: {printed}")
            if reader is not None:
                reader.stop()
        except (Failed, ValueError) as failure:
            log = Path(folder) / "server.log"
            said = log.read_text() if log.exists() else ""
            raise Failed(f"{page}:{line}: {failure}" + (f"\nserver log: {said}" if said else "")) from None
        finally:
            if reader is not None:
                reader.leave()
    return ran, compared, skipped


def main(binary, *pages):
    failures = 0
    for page in pages:
        try:
            ran, compared, skipped = read(str(Path(binary).resolve()), page)
        except Failed as failure:
            failures += 1
            print(f"FAILED {failure}\n", flush=True)
            continue
        reasons = f" ({'; '.join(sorted(set(skipped)))})" if skipped else ""
        print(f"{page}: {ran} blocks ran, {compared} answers compared, {len(skipped)} skipped{reasons}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
