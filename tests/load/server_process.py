"""How does a load test run `ferrox serve` and see what it holds? On a free port, with its log kept."""
import atexit
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request

START_SECONDS = 120


class ServerProcess:
    """One `ferrox serve`. `args`: its flags; `env`: variables beside this process's own."""

    def __init__(self, exe, args, env=None, port=0):
        self.child = subprocess.Popen([exe, "serve", "--port", str(port), *args], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
                                      env={**os.environ, **(env or {})})
        atexit.register(self.child.kill)
        self.log = []
        self.port = None
        listening = threading.Event()
        threading.Thread(target=self._read_log, args=(listening,), daemon=True).start()
        if not listening.wait(START_SECONDS) or self.port is None:
            self.child.kill()
            raise RuntimeError("the server did not start: " + "".join(self.log[-5:]))

    def _read_log(self, listening):
        for line in self.child.stderr:
            self.log.append(line)
            found = re.search(r"listening on http://[^:]+:(\d+)", line)
            if found:
                self.port = int(found.group(1))
                listening.set()
        listening.set()

    @property
    def pid(self):
        return self.child.pid

    def is_alive(self):
        return self.child.poll() is None

    def connect(self, timeout=120, receive_buffer=None):
        """A plain TCP connection; `receive_buffer`: bytes the kernel may hold for us, to be a slow reader with."""
        s = socket.socket()
        if receive_buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        s.settimeout(timeout)
        s.connect(("127.0.0.1", self.port))
        return s

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=120) as response:
            return response.read().decode()

    def post(self, path, body=None):
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=120) as response:
            return response.read().decode()

    def metrics(self):
        """Every sample without labels, by name."""
        return {name: float(value) for name, value in re.findall(r"^(\w+) ([-+.\deE]+)$", self.get("/metrics"), re.M)}

    def holds(self):
        """What must return to where it was: pages and requests; threads, descriptors and resident KiB of the process."""
        n_descriptors = len(os.listdir(f"/proc/{self.pid}/fd"))  # before the question takes one of its own
        m = self.metrics()
        status = open(f"/proc/{self.pid}/status").read()
        return {
            "running": int(m["ferrox_num_requests_running"]),
            "waiting": int(m["ferrox_num_requests_waiting"] + m["ferrox_num_requests_parked"]),
            "pages": int(m["ferrox_kv_pages_used"]),
            "threads": int(re.search(r"Threads:\s+(\d+)", status).group(1)),
            "descriptors": n_descriptors,
            "rss_kib": int(re.search(r"VmRSS:\s+(\d+)", status).group(1)),
        }

    def wait_idle(self, seconds):
        """Seconds until nothing runs, waits or holds a page; None: it did not come to that in time."""
        def is_idle(now):
            return now["running"] == now["waiting"] == now["pages"] == 0
        start = time.monotonic()
        return time.monotonic() - start if is_idle(self.wait_for(is_idle, seconds)) else None

    def wait_for(self, is_so, seconds):
        """What holds() says as soon as `is_so` of it, or after so many seconds."""
        end = time.monotonic() + seconds
        while not is_so(now := self.holds()) and time.monotonic() < end:
            time.sleep(0.02)
        return now

    def stop(self):
        """SIGTERM; its exit code."""
        if self.is_alive():
            self.child.send_signal(signal.SIGCONT)
            self.child.terminate()
        return self.child.wait(60)

    def kill(self):
        self.child.kill()
        return self.child.wait(60)
