# SPDX-License-Identifier: Apache-2.0
"""qsim on one circuit of qcnn bench: median seconds as JSON on the standard output, as the drivers of other peers print them.

PYTHONPATH holds common.py of those drivers (circuits as lists of gates, their angles, the clock). Use:
  peer_qsim.py model N | sel N LAYERS [product] | qft N | random FILE | circuit NAME
`random` reads what `qcnn bench --circuit random --show` prints. As in qcnn bench a first call of seconds is measured itself.
"""
import json
import os
import re
import sys
import time

import cirq
import numpy as np
import qsimcirq

import common as k

FUSED, LONG, REPEATS, BUDGET = 3, 2.0, 3, 10.0
FIXED = {"h": cirq.H, "t": cirq.T, "cz": cirq.CZ, "cx": cirq.CNOT, "swap": cirq.SWAP, "sx": cirq.X ** 0.5, "sy": cirq.Y ** 0.5}
TURN = {"rx": cirq.rx, "ry": cirq.ry, "rz": cirq.rz}
PAIR = {"rxx": cirq.XX, "ryy": cirq.YY, "rzz": cirq.ZZ}


def build(n, gates):
    q, c = cirq.LineQubit.range(n), cirq.Circuit()
    for g, w, a in gates:
        t = [q[i] for i in w]
        if g in FIXED:
            c.append(FIXED[g](*t))
        elif g in TURN:
            c.append(TURN[g](a)(*t))
        elif g in PAIR:
            c.append((PAIR[g] ** (a / k.PI))(*t))
        elif g == "cp":
            c.append(cirq.CZPowGate(exponent=a / k.PI)(*t))
        else:
            raise SystemExit(f"peer_qsim.py: no gate {g}")
    return c, q


def rotations(n):
    a = np.random.default_rng(3).uniform(0, 2 * k.PI, (n, 3))
    return [(g, (i,), float(a[i][j])) for i in range(n) for j, g in enumerate(("rz", "ry", "rz"))]


def qft(n):
    gates = rotations(n)
    for i in range(n - 1, -1, -1):
        gates.append(("h", (i,), None))
        gates += [("cp", (j, i), k.PI / 2 ** (i - j)) for j in range(i - 1, -1, -1)]
    return gates + [("swap", (i, n - 1 - i), None) for i in range(n // 2)]


def shown(path):
    n, gates = 0, []
    for line in open(path):
        qubits = tuple(int(i) for i in re.findall(r"q\[(\d+)\]", line))
        if line.startswith("qubit["):
            n = int(line[6:line.index("]")])
        elif line.startswith("h q;"):
            gates += [("h", (i,), None) for i in range(n)]
        elif qubits and not line.startswith("observe"):
            gates.append(("sy" if line.startswith("pow(0.5) @ y") else line.split()[0], qubits, None))
    return n, gates


def work(words):
    """Qubits, gates and the qubits whose <Z> is read (none: an amplitude)."""
    kind, n = words[0], int(words[1]) if words[1].isdigit() else 0
    if kind == "model":
        gates, p, left = k.model(n)
        return n, k.bind(k.cluster(n) + [("rx", (0,), 0.7)] + gates, None, k.weights(p)), [left[-1]]
    if kind == "sel":
        gates, w = k.sel(n, int(words[2]))
        return n, (rotations(n) if "product" in words else []) + k.bind(gates, None, w), range(n)
    if kind == "qft":
        return n, qft(n), []
    n, gates = shown(words[1]) if kind == "random" else k.circuit(words[1])
    return n, gates, []


n, gates, read = work(sys.argv[1:])
circuit, qubits = build(n, gates)
threads = int(os.environ.get("OMP_NUM_THREADS", "2"))
simulator = qsimcirq.QSimSimulator(qsimcirq.QSimOptions(max_fused_gate_size=FUSED, cpu_threads=threads))
sums = [cirq.PauliSum.from_pauli_strings(cirq.Z(qubits[i])) for i in read]


def go():
    if sums:
        return simulator.simulate_expectation_values(circuit, sums, qubit_order=qubits)
    return simulator.compute_amplitudes(circuit, [0], qubit_order=qubits)


began = time.perf_counter()
go()
first = time.perf_counter() - began
median = first if first >= LONG else k.bench(go, reps=REPEATS, budget=BUDGET, warm=False)["median"]
print(json.dumps({"peer": "qsim", "case": " ".join(sys.argv[1:3]), "median": median}))
