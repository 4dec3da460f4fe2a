#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# golden.sh [QCNN]: the rows of cli/bench/selftest.def, as the first GPU (or the emulated one) has them.
set -eu
${1:-tests/gpu/qcnn-emu} info --selftest --device=cuda:0 --json | tr '{' '\n' | awk -F'"' '
	/"maths"/ { for (k = 1; k < NF; k++) if ($k == "maths") printf "MATHS(%s)\n", $(k + 2) }
	/"circuit"/ {
		for (k = 1; k < NF; k++) {
			if ($k == "circuit") circuit = $(k + 2)
			if ($k == "qubits") { qubits = $(k + 1); gsub(/[^0-9]/, "", qubits) }
			if ($k == "precision") precision = toupper($(k + 2))
			if ($k == "digest") printf "GOLDEN(\"cuda\", \"%s\", %s, %s, \"%s\")\n", circuit, qubits, precision, $(k + 2)
		}
	}'
