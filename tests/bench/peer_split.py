# SPDX-License-Identifier: Apache-2.0
"""QuEST or lightning.kokkos with MPI on a circuit that `qcnn compile --emit=circuit` printed, its state split over all
processes of mpirun: seconds of the fastest and the median call, and <Z> of the observed qubit, as JSON on standard output.

  mpirun -n RANKS python peer_split.py quest CIRCUIT DATA [double] [fuse] [last] [runs=N]
  mpirun -n RANKS python peer_split.py lightning CIRCUIT DATA [double] [gradient] [runs=N]

DATA is the file of one sample for `qcnn run --data`, CSV with a header. Single precision unless `double`. QuEST (version 4)
is the library $QUEST_LIBRARY, of the same precision. `fuse` multiplies runs of gates on two qubits into one matrix before
the clock starts. The first qubit numbers the parts, as in lightning; with `last`, the last one. `gradient` is the adjoint
gradient with respect to the angles of all gates but those of the data; those of one weight are added up, and printed in the
order of the circuit.
"""
import csv
import ctypes as c
import json
import math
import os
import re
import statistics
import sys
import time

import numpy as np

PAULI = {"x": np.array([[0, 1], [1, 0]], complex), "y": np.array([[0, -1j], [1j, 0]]), "z": np.diag([1, -1]).astype(complex)}
FIXED = {"h": np.array([[1, 1], [1, -1]]) / math.sqrt(2), "cz": np.diag([1, 1, 1, -1]),
         "cx": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])}


def circuit(path, data):
    """Number of qubits, gates as (name, qubits, angle, weight, sign), and the observed qubit. weight is text, or None."""
    x, n, gates, read = [float(v) for v in list(csv.reader(open(data)))[1]], 0, [], None
    for line in open(path):
        qubits = tuple(int(i) for i in re.findall(r"q\[(\d+)\]", line))
        rotation = re.match(r"(inv @ )?pow\((.+)\) @ ([xyz]+) ", line)
        encoding = re.match(r"r([xyz])\(x\[(\d+)\]\)", line)
        if line.startswith("qubit["):
            n = int(line[6:line.index("]")])
        elif line.startswith("observe z("):
            read = qubits[0]
        elif rotation:  # equal up to a phase
            sign = -1 if rotation[1] else 1
            gates.append((rotation[3], qubits, sign * math.pi * float(rotation[2]), rotation[2], sign))
        elif encoding:
            gates.append((encoding[1], qubits, x[int(encoding[2])], None, 1))
        elif qubits and line.split()[0] in FIXED:
            gates.append((line.split()[0], qubits, None, None, 1))
        elif qubits and not line.startswith("discard"):
            raise SystemExit(f"peer_split.py: no gate in {line}")
    return n, gates, read


def matrix(name, angle):
    if angle is None:
        return FIXED[name]
    p = PAULI[name] if len(name) == 1 else np.kron(PAULI[name[0]], PAULI[name[1]])
    return math.cos(angle / 2) * np.eye(len(p)) - 1j * math.sin(angle / 2) * p


def on_pair(m, qubits, pair):
    """m as a matrix on the qubits of pair, the first of which is the high bit."""
    if len(qubits) == 1:
        return np.kron(m, np.eye(2)) if qubits[0] == pair[0] else np.kron(np.eye(2), m)
    return m if qubits == pair else m.reshape(2, 2, 2, 2).transpose(1, 0, 3, 2).reshape(4, 4)


def fuse(n, gates):
    """(qubits, matrix) in the order of the circuit: gates on one qubit join the pair before them, or else the one after."""
    blocks, last, waiting = [], [None] * n, [np.eye(2)] * n
    for name, qubits, angle, _, _ in gates:
        m, same = matrix(name, angle), {id(last[q]) for q in qubits}
        if len(same) == 1 and last[qubits[0]]:
            block = last[qubits[0]]
            block[1] = on_pair(m, qubits, block[0]) @ block[1]
        elif len(qubits) == 1:
            waiting[qubits[0]] = m @ waiting[qubits[0]]
        else:
            a, b = qubits
            blocks.append([qubits, m @ np.kron(waiting[a], waiting[b])])
            waiting[a] = waiting[b] = np.eye(2)
            last[a] = last[b] = blocks[-1]
    return blocks


class Quest:
    """Qubits are numbered from the lowest bit of an amplitude's index, so that the highest number the parts."""

    def __init__(self, n, gates, read, words):
        real = c.c_double if "double" in words else c.c_float
        self.lib, self.read = c.CDLL(os.environ["QUEST_LIBRARY"], mode=c.RTLD_GLOBAL), read

        class Environment(c.Structure):
            _fields_ = [("deployment", c.c_int * 3), ("rank", c.c_int), ("ranks", c.c_int)]

        class Register(c.Structure):
            _fields_ = [("deployment", c.c_int * 6), ("density", c.c_int), ("qubits", c.c_int), ("sizes", c.c_longlong * 5),
                        ("arrays", c.c_void_p * 4)]

        class Paulis(c.Structure):
            _fields_ = [("low", c.c_ulonglong), ("high", c.c_ulonglong)]

        def matrix_type(rows):
            class Matrix(c.Structure):
                _fields_ = [("qubits", c.c_int), ("rows", c.c_longlong), ("entries", real * (2 * rows * rows))]
            return Matrix

        one, two, lib, i = matrix_type(2), matrix_type(4), self.lib, c.c_int
        lib.getQuESTEnv.restype, lib.createForcedQureg.restype = Environment, Register
        lib.getPauliStr.restype, lib.getPauliStr.argtypes = Paulis, [c.c_char_p, c.POINTER(i), i]
        lib.calcExpecPauliStr.restype, lib.calcExpecPauliStr.argtypes = real, [Register, Paulis]
        for name, types in (("initZeroState", []), ("applyHadamard", [i]), ("applyTwoQubitPhaseFlip", [i, i]),
                            ("applyControlledPauliX", [i, i]), ("applyRotateX", [i, real]), ("applyRotateY", [i, real]),
                            ("applyRotateZ", [i, real]), ("applyPauliGadget", [Paulis, real]), ("applyCompMatr1", [i, one]),
                            ("applyCompMatr2", [i, i, two])):
            getattr(lib, name).argtypes, getattr(lib, name).restype = [Register] + types, None
        lib.initQuESTEnv()
        environment = lib.getQuESTEnv()
        self.rank, self.ranks = environment.rank, environment.ranks
        self.register = lib.createForcedQureg(n)
        bit = (lambda q: q) if "last" in words else (lambda q: n - 1 - q)
        paulis = lambda names, qubits: lib.getPauliStr(names.upper().encode(), (i * len(qubits))(*map(bit, qubits)), len(qubits))
        self.z = paulis("z", (read,))
        fixed = {"h": lib.applyHadamard, "cz": lib.applyTwoQubitPhaseFlip, "cx": lib.applyControlledPauliX}
        turn = {"x": lib.applyRotateX, "y": lib.applyRotateY, "z": lib.applyRotateZ}
        self.calls = []
        if "fuse" in words:
            for (a, b), m in fuse(n, gates):
                entries = (real * 32)(*np.asarray(m, complex).ravel().view(float))
                self.calls.append((lib.applyCompMatr2, (bit(b), bit(a), two(2, 4, entries))))
        for name, qubits, angle, _, _ in [] if "fuse" in words else gates:
            if angle is None:
                self.calls.append((fixed[name], tuple(map(bit, qubits))))
            elif len(name) == 1:
                self.calls.append((turn[name], (bit(qubits[0]), angle)))
            else:
                self.calls.append((lib.applyPauliGadget, (paulis(name, qubits), angle)))

    def wait(self):
        self.lib.syncQuESTEnv()

    def go(self):
        self.lib.initZeroState(self.register)
        for function, arguments in self.calls:
            function(self.register, *arguments)
        return {"z": self.lib.calcExpecPauliStr(self.register, self.z)}

    def end(self):
        self.lib.finalizeQuESTEnv()


class Lightning:
    """Through the device's own interface, as PennyLane's QNode calls it."""

    def __init__(self, n, gates, read, words):
        import pennylane as qml
        from mpi4py import MPI
        from pennylane.devices import ExecutionConfig
        self.world = MPI.COMM_WORLD
        self.rank, self.ranks = self.world.Get_rank(), self.world.Get_size()
        kind = {"h": qml.Hadamard, "cz": qml.CZ, "cx": qml.CNOT, "x": qml.RX, "y": qml.RY, "z": qml.RZ, "xx": qml.IsingXX,
                "yy": qml.IsingYY, "zz": qml.IsingZZ}
        self.gates, self.gradient = gates, "gradient" in words
        self.device = qml.device("lightning.kokkos", wires=n, mpi=True,
                                 c_dtype=np.complex128 if "double" in words else np.complex64)
        ops = [kind[g](wires=q) if a is None else kind[g](a, wires=q) for g, q, a, _, _ in gates]
        angles = [w for _, _, a, w, _ in gates if a is not None]
        self.tape = qml.tape.QuantumScript(ops, [qml.expval(qml.Z(read))],
                                           trainable_params=[k for k, w in enumerate(angles) if w] if self.gradient else [])
        self.config = ExecutionConfig(gradient_method="adjoint", use_device_gradient=True) if self.gradient else ExecutionConfig()

    def wait(self):
        self.world.Barrier()

    def go(self):
        if not self.gradient:
            return {"z": float(np.squeeze(self.device.execute(self.tape, self.config)))}
        z, derivatives = self.device.execute_and_compute_derivatives(self.tape, self.config)
        weights = {}
        for (_, _, _, w, sign), derivative in zip([g for g in self.gates if g[3]], np.ravel(derivatives)):
            weights[w] = weights.get(w, 0.0) + sign * math.pi * float(derivative)
        return {"z": float(np.squeeze(z)), "gradient": list(weights.values())}

    def end(self):
        pass


peer = {"quest": Quest, "lightning": Lightning}[sys.argv[1]](*circuit(*sys.argv[2:4]), sys.argv[4:])
seconds = []
runs = [int(w[5:]) for w in sys.argv[4:] if w.startswith("runs=")]
for _ in range(runs[0] if runs else 3):
    peer.wait()
    start = time.perf_counter()
    result = peer.go()
    peer.wait()
    seconds.append(time.perf_counter() - start)
if peer.rank == 0:
    print(json.dumps({"peer": sys.argv[1], "options": sys.argv[4:], "ranks": peer.ranks, "min": min(seconds),
                      "median": statistics.median(seconds), **result}))
peer.end()
