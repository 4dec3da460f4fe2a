#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# split.sh [QCNN [ROWS]]: prints tests/bench/split.md, what states are expected to take that are split over many machines (default: ./qcnn);
# ROWS: what split_links.sh printed (default: the file beside this one).
set -eu
qcnn=$(command -v "${1:-./qcnn}")
measured=${2:-$(dirname "$0")/split_links.rows}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The limits of the machine of tests/bench/README.md, and a network of 200 Gbit/s.
machine=stream=63.5,write=41.5,l2=425,single=518,double=261
link=25,2

# plan RANKS [OPTION ...]: of $work/model.qcnn.
plan() {
	ranks=$1
	shift
	OMP_NUM_THREADS=2 "$qcnn" compile --emit=plan --isa=avx512 --machine=$machine --link=$link --ranks="$ranks" "$@" "$work/model.qcnn"
}

text='function seconds(s) { return sprintf(s >= 1000 ? "%.0f s" : "%.3g s", s) }
	function bytes(b) { return b >= 1e12 ? sprintf("%.3g TB", b / 1e12) : b >= 1e9 ? sprintf("%.3g GB", b / 1e9) : sprintf("%.3g MB", b / 1e6) }'

# row NAME QUBITS RANKS
row() {
	plan "$3" 2>"$work/warnings" | awk -v name="$1" -v qubits="$2" -v ranks="$3" "$text"'
		/^split/ { exchanges = $4 }
		/^  forward / && / s to send / { sub(/forward/, "forward forward"); f = 1 }
		/^  with gradient / && / s to send / { f = 2 }
		f { split("", at); for (k = 1; k <= NF; k++) { if ($k == "of" && $(k + 1) ~ /^computing/) compute[f] = $(k - 2); if ($k == "send") { send[f] = $(k - 3); sent[f] = $(k + 1) }
			if ($k == "in" && $(k + 2) ~ /^message/) messages[f] = $(k + 1); if ($k == "bytes" && $(k + 2) == "memory") memory[f] = $(k - 1) }
			all[f] = $3; f = 0 }
		END { printf "| %s | %d | %d | %s | %d | %s | %d | %s | %s | %s | %s | %s | %s |\n", name, qubits, ranks, bytes(memory[2]), exchanges, bytes(sent[1]), messages[1],
			seconds(compute[1]), seconds(send[1]), seconds(all[1]), seconds(compute[2]), seconds(send[2]), seconds(all[2]) }'
}

rows() {
	for circuit in "QCNN|--circuit=qcnn" "one entangling layer|--circuit=sel" "three entangling layers|--circuit=sel --layers=3"; do
		for qubits in 40 42 44 46; do
			# shellcheck disable=SC2086
			"$qcnn" bench ${circuit#*|} --qubits=$qubits --show >"$work/model.qcnn"
			for ranks in 1024 4096 16384 65536; do
				row "${circuit%|*}" $qubits $ranks
			done
		done
	done
}

cat <<END
# What split states are expected to take

**All but [the last table](#predicted-and-measured) is predicted: nothing here has been measured on 1,024 machines or more, and at most
64 processes can compute a state together.** \`make bench-split\` prints the page again, from plans; so does, for any circuit, number of ranks, network and machine,

    qcnn bench --circuit=qcnn --qubits=46 --show >model.qcnn
    qcnn compile --emit=plan --ranks=65536 --link=$link --machine=$machine model.qcnn

or, with \`--measure\` instead of \`--machine\`, for machines like the one that it runs on.

Each rank is a process on a machine of its own, like [the one that was measured](README.md): two threads of an EPYC (63.5 GB/s in place,
518 GFLOP/s). It sends 25 GB/s, receives as much at the same time, and takes 2 µs more for each message: a network of 200 Gbit/s. Single
precision, one sample. \`QCNN\` is the model of \`examples/cluster\`; entangling layers are strongly entangling layers with ⟨Z⟩ of every
qubit. \`memory\` is that of a rank for the gradient. Exchanges, bytes and messages are those of a rank in the forward pass; the backward
pass has twice as many bytes and messages, since it exchanges two states.

| circuit | qubits | ranks | memory | exchanges | sent | messages | forward: computing | sending | all | gradient: computing | sending | all |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
END
rows
cat <<'END'

## The model

Computing is the expected time of the plan's stages (`qcnn compile --emit=plan`) on the part of the rank that has the most to do: while the
qubits that number the ranks are |0>, few ranks have anything but zeros. Sending is bytes over the rate of the link and the
messages one after the other. A rank sends one message to each of its partners in an exchange: with 16 qubits that change places, 65,535.

`all` is less than the sum where an exchange goes on beside the stages before and behind it, in as many pieces as a rank has of the 64 chunks of a
state. It begins when the stage before has done the first piece and ends at least a piece after that stage; the stage behind ends
at least a piece after the exchange. From 64 ranks on there is one piece, and nothing goes on at the same time.

Where the bits that change places lie low in a part, they would be exchanged in more than 64 pieces for each partner. Then
they change places in several groups, one after the other, as the program does it: each time less than a part, with fewer partners.
That is why some of the circuits of three entangling layers send more than their part in an exchange.

`all` has the time of what is sent besides amplitudes, too: matrices from one rank to all others (16 bytes for each entry, and again in each pass), and
sums of readouts and gradients, which every rank gets from all others (8 bytes for each sum and chunk, of which a rank has one at least).

Not in the model: computing matrices, encoding and the chain rule in each rank; the network's own limits where all ranks send at once.
END
cat <<'END'

## Predicted and measured

Calls over slow links beside what their plans predict. Each rank has one thread, and a network namespace on the two processors of
[this machine](README.md), whose link tbf holds to a rate in the direction in which it sends; ranks talk by tcp, encrypted. The prediction has the limits that
`compile --measure` finds for one thread, or its share of them where more ranks than processors run, and a link of 1448 bytes of
payload in packets of 1514, with 100 µs a message: `--link=0.005975,100` for 50 Mbit/s. Measured is the fastest of five calls of `qcnn bench`.
Nothing else ran. In the last four rows computing takes a quarter to a half of the time of sending: with the overlap, calls take no longer
than 1.15 of the larger of both and half of the other. `tests/bench/split_links.sh` is the command; `make bench-split` runs it.

| circuit | ranks | pass | link | computing | sending | predicted | measured | × |
|---|--:|---|--:|--:|--:|--:|--:|--:|
END
cat "$measured"
