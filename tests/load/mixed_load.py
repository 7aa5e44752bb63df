#!/usr/bin/env python3
"""mixed_load.py EXE MODEL [--minutes M]: a server under many kinds of requests and faults at once. Every answer is compared with that of the same request run alone;
what the process holds is compared with what it held after a tenth of the time. Exits with 1 for a wrong text, a failed request, a crash or a leak.
"""
import argparse
import collections
import random
import socket
import struct
import sys
import threading
import time

from completion import Answer, Request, ask, head_and_body, make_pool
from machine import Clock, SmallDisk, stop_for
from server_process import ServerProcess

KEPT_OPEN = 20  # connections of clients that went silent


class Load:
    """Counts by what happened; the first texts that were wrong, and the first requests that failed."""

    def __init__(self, server, pool, alone):
        self.server = server
        self.pool = pool
        self.alone = alone
        self.counts = collections.Counter()
        self.faults = []
        self.is_over = threading.Event()
        self.lock = threading.Lock()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fault(self, text):
        with self.lock:
            self.counts["faults"] += 1
            if len(self.faults) < 10:
                self.faults.append(text)

    def repeat(self, seed, act, pause=0):
        def run():
            rng = random.Random(seed)
            while not self.is_over.wait(pause and rng.uniform(0.5, 1.5) * pause):
                try:
                    act(self, rng)
                except Exception as error:  # whatever went wrong is told in the end; the load goes on
                    self.fault(f"{act.__name__}: {error!r}")
        thread = threading.Thread(target=run)
        thread.start()
        return thread


def answer_in_full(load, rng):
    i = rng.randrange(len(load.pool))
    path, body = load.pool[i]
    is_stream = rng.random() < 0.6
    with load.server.connect(600) as connection:
        connection.sendall(head_and_body(path, {**body, "stream": is_stream}, "connection: close\r\n"))
        answer = Answer(connection).read()
    texts = [answer.texts[k] for k in sorted(answer.texts)]
    if answer.status != 200 or answer.error or not answer.is_done:
        load.fault(f"request {i}: status {answer.status}, error {answer.error}, done {answer.is_done}")
    elif texts != load.alone[i]:
        load.fault(f"request {i}, stream {is_stream}: {texts!r} instead of {load.alone[i]!r}")
    else:
        load.count("answers")


def leave_early(load, rng):
    path, body = rng.choice(load.pool)
    request = head_and_body(path, {**body, "stream": rng.random() < 0.6})
    with load.server.connect() as connection:
        connection.sendall(request[:rng.randrange(1, len(request))] if rng.random() < 0.2 else request)
        time.sleep(rng.random() * 0.5)
        if rng.random() < 0.5:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    load.count("left early")


def cancel(load, rng):
    path, body = rng.choice(load.pool)
    with load.server.connect(600) as connection:
        connection.sendall(head_and_body(path, {**body, "stream": True}, "connection: close\r\n"))
        answer = Answer(connection)
        answer.read_head()
        time.sleep(rng.random() * 0.2)
        try:
            load.server.post("/v1/cancel", {"id": answer.headers["x-request-id"]})
        except OSError:  # 404: it had ended
            pass
        answer.read()
    load.count("cancelled")


def send_garbage(load, rng):
    path, body = rng.choice(load.pool)
    request = bytearray(head_and_body(path, body))
    kind = rng.randrange(3)
    if kind == 0:
        request = rng.randbytes(rng.randrange(1, 5000))
    else:
        for _ in range(rng.randrange(1, 8)):
            request[rng.randrange(len(request) if kind == 1 else 60)] = rng.randrange(256)
    with load.server.connect(5) as connection:
        try:
            connection.sendall(bytes(request))
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65536):
                pass
        except OSError:
            pass
    load.count("garbage")


def read_slowly(load, rng):
    i = rng.randrange(len(load.pool))
    path, body = load.pool[i]
    with load.server.connect(600, receive_buffer=2048) as connection:
        connection.sendall(head_and_body(path, {**body, "stream": True, "logprobs": 5} if path == "/v1/completions" else {**body, "stream": True},
                                         "connection: close\r\n"))
        answer = Answer(connection)
        while not answer.is_done and not load.is_over.is_set():
            answer.read(1)
            time.sleep(rng.random() * 0.1)
    load.count("read slowly")


class GoSilent:
    """Connections that say nothing more, in the middle of a head, a body or an answer; the oldest is closed when there are KEPT_OPEN."""

    __name__ = "go silent"

    def __init__(self):
        self.open = []

    def __call__(self, load, rng):
        path, body = rng.choice(load.pool)
        request = head_and_body(path, {**body, "stream": True})
        self.open.append(load.server.connect())
        self.open[-1].sendall(request[:rng.choice([0, 10, len(request) // 2, len(request)])])
        if len(self.open) > KEPT_OPEN:
            self.open.pop(0).close()
        load.count("went silent")

    def close(self):
        for connection in self.open:
            connection.close()


def machine_faults(clock, disk):
    def stand_still(load, rng):
        stop_for(load.server, rng.uniform(0.2, 3))
        load.count("stood still")

    def jump(load, rng):
        clock.jump(rng.choice([0, 3600, -3600, 86400 * 400, -86400 * 400]))
        load.count("clock jumps")

    def fill(load, rng):
        disk.fill()
        time.sleep(rng.uniform(1, 5))
        disk.empty()
        load.count("disk full")

    return [(stand_still, 20), *([(jump, 5)] if clock.is_there else []), *([(fill, 10)] if disk.is_there else [])]


def run(load, arguments, acts):
    """The load for its minutes; what the process held at its first tenth, and at the end when all have left."""
    silent = GoSilent()
    threads = [load.repeat(seed, answer_in_full) for seed in range(arguments.clients)]
    for seed, (act, pause) in enumerate([(leave_early, 0.05), (cancel, 0.2), (send_garbage, 0.1), (read_slowly, 1), (silent, 0.5), *acts], 1000):
        threads.append(load.repeat(seed, act, pause))
    start = time.monotonic()
    early = None
    for tenth in range(1, 11):
        while time.monotonic() - start < arguments.minutes * 6 * tenth and load.server.is_alive():
            time.sleep(0.5)
        if not load.server.is_alive():
            load.fault(f"the server ended with code {load.server.child.returncode}")
            break
        now = load.server.holds()
        early = early or now
        print(f"{time.monotonic() - start:.0f} s: {now} {dict(load.counts)}", flush=True)
    load.is_over.set()
    for thread in threads:
        thread.join()
    silent.close()
    return early


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("exe")
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--no-clock", action="store_true", help="for builds with a sanitizer, which libfaketime can't be loaded into")
    arguments = parser.parse_args()
    clock = Clock()
    clock.is_there &= not arguments.no_clock
    disk = SmallDisk(64)
    flags = ["-m", arguments.model, "--parallel", "6", "--kv-bytes", "96M", "--ctx-size", "2048", "--kv-host-bytes", "32M"]
    server = ServerProcess(arguments.exe, flags + (["--kv-disk", disk.folder, "--kv-disk-bytes", "1G"] if disk.is_there else []), clock.environment())
    pool = make_pool(7, arguments.requests)
    alone = [ask(server, Request(path, {**body, "cache_prompt": False})) for path, body in pool]
    idle_before = server.holds()
    print(f"alone: {idle_before}", flush=True)
    load = Load(server, pool, alone)
    early = run(load, arguments, machine_faults(clock, disk))
    idle = server.is_alive() and server.wait_idle(60)
    if idle is False or idle is None:
        load.fault("the server never came to rest")
    time.sleep(1)
    after = server.holds() if server.is_alive() else {}
    print(f"at rest: {after} {dict(load.counts)}")
    for what in ("threads", "descriptors"):
        if after.get(what, 0) > idle_before[what]:
            load.fault(f"{what}: {idle_before[what]} before, {after[what]} after")
    if early and after.get("rss_kib", 0) > early["rss_kib"] * 1.1:
        load.fault(f"resident KiB: {early['rss_kib']} after a tenth of the time, {after['rss_kib']} in the end")
    code = server.stop()
    if code != 0:
        load.fault(f"exit code {code}: " + "".join(server.log[-20:]))
    print("\n".join(load.faults) or "no fault")
    return 1 if load.faults else 0


if __name__ == "__main__":
    sys.exit(main())
