#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints tests/bench/README.md: qcnn bench on a list of works, beside other simulators where they are installed.
# Use: run.sh [ROWS]     (ROWS: an extended regular expression for the first column; the default is all)
#
# QCNN is the program. A peer NAME is run by $QCNN_SHARED/tools/peers/peer_NAME.py when PEER_PYTHON_NAME (in
# capitals) is a Python that has it: PEER_PYTHON_QSIM, PEER_PYTHON_LIGHTNING, PEER_PYTHON_JAX, PEER_PYTHON_QULACS,
# PEER_PYTHON_MINDQUANTUM, PEER_PYTHON_TFQ. Each peer runs right after ours, with as many threads.
set -u
QCNN=${QCNN:-qcnn}
threads=${BENCH_THREADS:-$("$QCNN" info --json | sed 's/.*"threads": \([0-9]*\).*/\1/')}
memory=$("$QCNN" info --json | sed 's/.*"memory_available_bytes": \([0-9]*\).*/\1/')
drivers=${QCNN_SHARED:-}/tools/peers
circuits=${QCNN_SHARED:-}/reference/circuits
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT INT TERM
rows=${1:-.}

# name | options of qcnn bench | qubits (for memory) | peers' work, --n, variant | words of the peers' case
cat >"$work/list" <<END
qcnn 8, gradient, batch 1|--circuit qcnn --qubits 8 --gradient|8|-
qcnn 8, gradient, batch 16|--circuit qcnn --qubits 8 --gradient --batch 16|8|w1,8,|gradient batch 16\$
qcnn 8, gradient, batch 1,024|--circuit qcnn --qubits 8 --gradient --batch 1024|8|w1,8,|gradient batch 1024
qcnn 8, forward, batch 100,000|--circuit qcnn --qubits 8 --batch 100000|8|-
qcnn 8, forward, batch 4,000|--circuit qcnn --qubits 8 --batch 4000|8|w6,8,|predict 4000
qcnn 12, gradient, batch 1|--circuit qcnn --qubits 12 --gradient|12|-
qcnn 12, gradient, batch 16|--circuit qcnn --qubits 12 --gradient --batch 16|12|w2,12,|gradient batch 16
qcnn 16, gradient, batch 1|--circuit qcnn --qubits 16 --gradient|16|-
qcnn 16, gradient, batch 16|--circuit qcnn --qubits 16 --gradient --batch 16|16|w2,16,|gradient batch 16
qcnn 20, forward|--circuit qcnn --qubits 20|20|w4,20,fwd|forward(\$| )
qcnn 20, gradient|--circuit qcnn --qubits 20 --gradient|20|w4,20,|forward\\\\+gradient
qcnn 23, forward|--circuit qcnn --qubits 23|23|w4,23,fwd|forward(\$| )
qcnn 23, gradient|--circuit qcnn --qubits 23 --gradient|23|w4,23,|forward\\\\+gradient
qcnn 23, gradient, double|--circuit qcnn --qubits 23 --gradient --precision double|24|-
sel 20, 1 layer|--qubits 20|20|w3,20,|L=1
sel 26, 1 layer|--qubits 26|26|w3,26,|L=1
sel 28, 1 layer|--qubits 28|28|w3,28,|L=1
sel 28, 3 layers|--qubits 28 --layers 3|28|-
qft 24|--circuit qft --qubits 24|24|w5,24,|qft_q24
random 24, of qsim's collection|--circuit $circuits/circuit_q24.qsim|24|w5,24,|qsim_q24
random 30, 100 cycles|--circuit random --qubits 30|30|-
END

peers=
for name in qsim lightning jax qulacs mindquantum tfq; do
	eval "python=\${PEER_PYTHON_$(echo $name | tr a-z A-Z):-}"
	[ -n "$python" ] && [ -f "$drivers/peer_$name.py" ] && peers="$peers $name"
done

# The peer's median for one row, or "-": its driver's answers are kept, since one run holds several cases.
peer_seconds() {
	name=$1 spec=$2 case=$3
	kept=$work/$name-$(echo "$spec" | tr ', ' '__')
	[ "$spec" != - ] || { echo -; return; }
	if [ ! -f "$kept" ]; then
		eval "python=\$PEER_PYTHON_$(echo $name | tr a-z A-Z)"
		n=$(echo "$spec" | cut -d, -f2)
		variant=$(echo "$spec" | cut -d, -f3)
		[ "$name" != qsim ] || variant=f3
		(cd "$drivers" && OMP_NUM_THREADS=$threads PYTHONDONTWRITEBYTECODE=1 timeout 600 "$python" "peer_$name.py" \
			--work "${spec%%,*}" --n "$n" --threads "$threads" --variant "$variant" --json --reps 3 --budget 60) \
			>"$kept" 2>"$kept.err"
	fi
	awk -v case_text="$case" '
		match($0, /"case": "[^"]*"/) {
			name = substr($0, RSTART + 9, RLENGTH - 10)
			if (name ~ case_text && match($0, /"median": [0-9.e+-]*/)) { print substr($0, RSTART + 10, RLENGTH - 10); found = 1; exit }
		}
		END { if (!found) print "-" }' "$kept"
}

nice_seconds() {
	awk -v s="$1" 'BEGIN {
		if (s == "-") { print "-"; exit }
		u = s >= 1 ? "s" : s >= 1e-3 ? "ms" : "µs"; v = s * (s >= 1 ? 1 : s >= 1e-3 ? 1e3 : 1e6)
		printf "%.3g %s", v, u }'
}

cat <<END
# How fast it is

This page is what \`make bench\` prints (\`tests/bench/run.sh\`), losses as well as wins. Each line is one call:
medians of several, buffers resident, everything that a step needs inside the time. Single precision, no
shortcuts. \`of limit\` is the share of what the machine does at best, measured in the same run: arithmetic
(fma) or streaming; \`nominal\` counts 32 flops an amplitude and two-qubit block of the text (128 with the
gradient). Peers run right after, with as many threads; × is their time over ours.

END
"$QCNN" info --measure --threads "$threads" | sed -n '/^version\|^processor \|^kernels\|^limits/s/^/    /p'
printf '    measured      %s, %s threads\n\n' "$(date +%Y-%m-%d)" "$threads"

printf '| work | qcnn | of limit | GFLOP/s executed | nominal | passes |'
for p in $peers; do printf ' %s | × |' "$p"; done
printf '\n|---|--:|--:|--:|--:|--:|'
for p in $peers; do printf -- '--:|--:|'; done
printf '\n'

grep -E "^$rows" "$work/list" | while IFS='|' read -r name options qubits spec case; do
	case $options in *--gradient*) states=2 ;; *) states=1 ;; esac
	[ "$(awk -v n="$qubits" -v s=$states -v m="$memory" 'BEGIN { print (s * 8 * 2 ^ n < 0.9 * m) }')" = 1 ] ||
		{ echo "| $name | needs more memory than there is |"; continue; }
	case $options in *"$circuits"*) [ -n "${QCNN_SHARED:-}" ] && [ -f "$circuits/circuit_q24.qsim" ] || continue ;; esac
	# shellcheck disable=SC2086
	"$QCNN" bench $options --threads "$threads" --csv -q >"$work/csv" || continue
	column() { awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i } NR == 2 { gsub(/"/, "", $at); print $at }' "$work/csv"; }
	ours=$(column seconds_median)
	printf '| %s | %s | %.0f %% %s | %.0f | %.0f | %s |' "$name" "$(nice_seconds "$ours")" \
		"$(awk -v s="$(column share_of_limit)" 'BEGIN { print 100 * s }')" "$(column limit)" "$(column gflop_s)" \
		"$(column gflop_s_nominal)" "$(column passes)"
	for p in $peers; do
		theirs=$(peer_seconds "$p" "$spec" "${case:-}")
		printf ' %s | %s |' "$(nice_seconds "$theirs")" "$(awk -v a="$theirs" -v b="$ours" 'BEGIN { if (a == "-") print "-"; else printf (a < 10 * b ? "%.2f" : "%.0f"), a / b }')"
	done
	printf '\n'
done
if [ -n "${KERNELS:-}" ]; then
	cat <<-'END'

	## What bounds it

	Arithmetic is dense matrices of two and three qubits on blocks that stay in L1 or L2. Each kernel alone, as a share of
	the multiply-adds that the same thread does on registers:

	END
	"$KERNELS"
	cat <<-'END'

	A step has at most the share of its kernels; the rest goes to encoding and building small matrices, to gathering
	blocks and exchanging lanes, to sums in double and in fixed point. Where a step is below that, this is the gap.
	END
fi

# growth QUBITS BATCH: lines "qubits batch shape passes nanoseconds" of a brickwork, as far as memory allows.
growth() {
	for n in $1; do
		[ "$(awk -v n="$n" -v b="$2" -v m="$memory" 'BEGIN { print (8 * b * 2 ^ n < 0.9 * m) }')" = 1 ] || continue
		"$QCNN" bench --circuit brickwork --layers 8 --qubits "$n" --batch "$2" --threads "$threads" --no-limits --csv -q |
			awk -F, -v n="$n" -v b="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
				NR == 2 { gsub(/"/, ""); print n, b, $at["shape"], $at["passes"], 1e9 * $at["seconds_median"] / 2 ^ n / b / $at["gates"] }'
	done
}

if [ "$rows" = . ]; then
	cat <<-END

	## Growth

	Nanoseconds per amplitude and apply of eight layers of two-qubit matrices (\`--circuit brickwork --layers 8\`), forward; × is
	the ratio to the line above. Below 11 qubits what a call takes whatever its size counts: matrices, encoding, handing out.

	| qubits | samples | shape | passes | ns | × |
	|--:|--:|---|--:|--:|--:|
	END
	{ growth "$(seq -s ' ' 4 20)" 16; growth "$(seq -s ' ' 21 28)" 1; } |
		awk '{ printf "| %d | %d | %s | %d | %.3g | %s |\n", $1, $2, $3, $4, $5, last ? sprintf("%.2f", $5 / last) : "-"; last = $5 }'
fi
cat <<END

Where peers have no number they cannot do the work, or their driver does not have it.
To repeat it: \`make bench\`; with peers
\`make bench PEER_PYTHON_QSIM=/path/to/python PEER_PYTHON_LIGHTNING=…\`.
END
