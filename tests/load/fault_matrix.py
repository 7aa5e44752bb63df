#!/usr/bin/env python3
"""fault_matrix.py EXE MODEL: each fault in each state of a request, beside another request that must not notice. Prints the table; exits with 1 when a cell is wrong."""
import random
import signal
import socket
import struct
import sys
import threading
import time

from completion import Request, ask, words
from machine import Clock, SmallDisk, stop_for
from server_process import ServerProcess
from victim import LONG, N_SLOTS, STATES, VICTIM, Victim, request_in

IDLE_SECONDS = 10
COUNTED = ("threads", "descriptors")
WRONG = ("EXPECTED", "NEVER IDLE", "TEXT", "EXIT CODE", "THREADS", "DESCRIPTORS")
BYSTANDER = Request("/v1/completions", {"prompt": "the bystander " + words(random.Random(1), 30), "max_tokens": 150, "temperature": 0.8, "seed": 1,
                                        "ignore_eos": True})

GONE = {state: ("gone",) for state in STATES}  # nobody is left to see an outcome
EQUAL = {state: ("equal",) for state in STATES}


def reset(victim):
    victim.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    victim.leave()


def cancel(victim):
    if victim.answer.status is None:
        victim.answer.read_head()
    victim.server.post("/v1/cancel", {"id": victim.answer.headers["x-request-id"]})


def faults_of_a_client():
    """(name, what happens, outcomes that are right by state). A state that isn't named can't meet the fault."""
    wrong = ("400 invalid_request_error",)
    return [
        ("closed by the client", Victim.leave, GONE),
        ("reset by the client", reset, GONE),
        ("client reads nothing for 3 s", lambda victim: time.sleep(3), EQUAL),
        ("garbage behind the request", lambda victim: victim.connection.sendall(bytes(range(256)) * 4),
         {**EQUAL, "half a body": wrong, "kept connection": wrong}),
        ("cancelled", cancel, {state: ("ended early",) for state in ("queued", "prompt", "stream")}),
    ]


def faults_of_the_machine(clock, disk):
    faults = [("process stopped for 3 s", lambda victim: stop_for(victim.server, 3), EQUAL)]
    if clock.is_there:
        for name, seconds in (("a day ahead", 86400), ("a day back", -86400)):
            faults.append((f"clock {name}", lambda victim, seconds=seconds: (clock.jump(seconds), time.sleep(0.3)), EQUAL))
    if disk.is_there:
        faults.append(("disk of the prefixes full", lambda victim: disk.fill(), EQUAL))
    return faults


def run_cell(server, happen, state, right, alone):
    """What the table says of this fault in this state; capitals say what is wrong."""
    server.wait_idle(IDLE_SECONDS)
    before = server.holds()
    seen = []
    bystander = threading.Thread(target=lambda: seen.append(ask(server, BYSTANDER)))
    bystander.start()
    while server.holds()["running"] < 1:
        time.sleep(0.005)
    victim = Victim(server, state)
    happen(victim)
    outcome = "gone" if right == ("gone",) else victim.outcome(alone[request_in(state).body["prompt"]])
    victim.leave()
    bystander.join()
    victim.wait_for_others()
    idle = server.wait_idle(IDLE_SECONDS)
    after = server.wait_for(lambda now: all(now[what] <= before[what] for what in COUNTED), IDLE_SECONDS)
    wrong = [f"{what.upper()} {before[what]} -> {after[what]}" for what in COUNTED if after[what] > before[what]]
    if outcome not in right:
        wrong.append(f"EXPECTED {' or '.join(right)}")
    if idle is None:
        wrong.append("NEVER IDLE")
    if seen != [[alone[BYSTANDER.body["prompt"]]]]:
        wrong.append("BYSTANDER'S TEXT")
    return " ".join([outcome, *wrong])


def run_end(start, number, state, right, alone):
    """The same for the end of the process: another one must go on from what the first left."""
    server = start()
    victim = Victim(server, state)
    server.child.send_signal(number)
    outcome = victim.outcome(alone[request_in(state).body["prompt"]])
    code = server.child.wait(60)
    victim.wait_for_others()
    wrong = [] if outcome in right else [f"EXPECTED {' or '.join(right)}"]
    if code != (0 if number == signal.SIGTERM else -number):
        wrong.append(f"EXIT CODE {code}")
    again = start()
    if ask(again, VICTIM) != [alone[VICTIM.body["prompt"]]]:
        wrong.append("TEXT AFTERWARDS")
    again.stop()
    return " ".join([outcome, *wrong])


def print_row(name, cells):
    print("| " + " | ".join([name, *cells]) + " |", flush=True)
    return not any(word in cell for cell in cells for word in WRONG)


def main(exe, model):
    disk = SmallDisk(8)
    clock = Clock()
    arguments = ["-m", model, "--parallel", str(N_SLOTS), "--kv-bytes", "400M", "--ctx-size", "16384"]
    if disk.is_there:
        arguments += ["--kv-disk", disk.folder, "--kv-disk-bytes", "1G"]

    def start():
        return ServerProcess(exe, arguments, clock.environment())

    server = start()
    alone = {request.body["prompt"]: ask(server, request)[0] for request in (BYSTANDER, VICTIM, LONG)}
    is_right = True
    print_row("fault", STATES)
    print_row("---", ["---"] * len(STATES))
    for name, happen, outcomes in [*faults_of_a_client(), *faults_of_the_machine(clock, disk)]:
        is_right &= print_row(name, [run_cell(server, happen, state, outcomes[state], alone) if state in outcomes else "" for state in STATES])
        clock.jump(0)
        disk.empty()
    if server.stop() != 0:
        is_right = False
        print("EXIT CODE after all of these isn't 0")
    refused = ("503 draining", "closed")
    drained = {**EQUAL, "half a body": refused, "kept connection": refused, "queued": ("equal", "503 draining", "event draining")}
    for name, number, outcomes in [("SIGTERM", signal.SIGTERM, drained), ("SIGKILL", signal.SIGKILL, {state: ("closed",) for state in STATES})]:
        is_right &= print_row(name, [run_end(start, number, state, outcomes[state], alone) for state in STATES])
    for what, fault in ((clock, "clock"), (disk, "disk")):
        if not what.is_there:
            print(f"not tried: the {fault}'s faults need {'libfaketime' if fault == 'clock' else 'the right to mount'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
