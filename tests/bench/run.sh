#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints tests/bench/README.md: qcnn bench on the works of tests/bench/rows, beside other simulators where they are
# installed, and what the results say together. Writes the plot of its section Growth into the file $PLOT.
# Usage: run.sh [ROWS]     (ROWS: an extended regular expression for how the names of works and of the sections processes,
# threads, kernels, growth and split begin; the default is all)
#
# QCNN is the program, KERNELS tests/bench/kernels. A peer NAME is run by $QCNN_SHARED/tools/peers/peer_NAME.py, qsim by
# peer_qsim.py here, when PEER_PYTHON_NAME (in capitals) is a Python that has it: PEER_PYTHON_QSIM, PEER_PYTHON_LIGHTNING,
# PEER_PYTHON_JAX, PEER_PYTHON_QULACS, PEER_PYTHON_MINDQUANTUM, PEER_PYTHON_TFQ. Each runs right after ours, with as many
# threads. On two cores with qsim and lightning it takes about 12 minutes.
set -u
QCNN=${QCNN:-qcnn}
here=$(dirname "$0")
threads=${BENCH_THREADS:-$("$QCNN" info --json | sed 's/.*"threads": \([0-9]*\).*/\1/')}
memory=$("$QCNN" info --json | sed 's/.*"memory_available_bytes": \([0-9]*\).*/\1/')
drivers=${QCNN_SHARED:-}/tools/peers
circuits=${QCNN_SHARED:-}/reference/circuits
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
rows=${1:-.}

python_of() { eval "echo \"\${PEER_PYTHON_$(echo "$1" | tr "[:lower:]" "[:upper:]"):-}\""; }
peers=
for name in qsim lightning jax qulacs mindquantum tfq; do
	[ -n "$(python_of $name)" ] && [ -f "$drivers/peer_$name.py" ] && peers="$peers $name"
done

# column FILE NAME [LINE]: a number of a table of qcnn bench --csv.
column() {
	awk -F, -v want="$2" -v line="${3:-2}" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) at = i }
		NR == line { gsub(/"/, "", $at); print $at }' "$1"
}

# calc EXPRESSION FORMAT [NAME=VALUE...]: a number, or "-" where a value is missing.
calc() {
	expression=$1 format=$2
	shift 2
	for pair in "$@"; do
		case $pair in *=|*=-) echo -; return ;; esac
	done
	# shellcheck disable=SC2046
	awk $(printf ' -v %s' "$@") "BEGIN { printf \"$format\", ($expression) }" </dev/null
}

# fits QUBITS STATES: do so many states in single precision fit into memory?
fits() { [ "$(calc 's*8*2^n<0.9*m' %d n="$1" s="$2" m="$memory")" = 1 ]; }

nice_seconds() {
	awk -v s="$1" 'BEGIN {
		if (s == "-" || s == "") { print "-"; exit }
		u = s >= 1 ? "s" : s >= 1e-3 ? "ms" : "µs"; v = s * (s >= 1 ? 1 : s >= 1e-3 ? 1e3 : 1e6)
		printf (v >= 100 ? "%.0f %s" : "%.3g %s"), v, u }'
}

# ---- peers ----

# qsim_seconds WORDS: "-" where it cannot.
qsim_seconds() {
	words=$1
	case $words in "random "*)
		"$QCNN" bench --circuit random --qubits "${words#random }" --show >"$work/random"
		words="random $work/random" ;;
	esac
	# shellcheck disable=SC2086
	PYTHONPATH=$drivers PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=$threads timeout 600 "$(python_of qsim)" "$here/peer_qsim.py" $words 2>"$work/err" |
		sed -n 's/.*"median": \([0-9.e+-]*\).*/\1/p' | grep . || echo -
}

# driver_seconds NAME WORK,N,VARIANT CASE: one run of a driver holds several cases, and is kept.
driver_seconds() {
	kept=$work/$1-$(echo "$2" | tr ', ' '__')
	if [ ! -f "$kept" ]; then
		n=$(echo "$2" | cut -d, -f2)
		(cd "$drivers" && OMP_NUM_THREADS=$threads PYTHONDONTWRITEBYTECODE=1 timeout 600 "$(python_of "$1")" "peer_$1.py" \
			--work "${2%%,*}" --n "$n" --threads "$threads" --variant "$(echo "$2" | cut -d, -f3)" --json --reps 3 --budget 20) \
			>"$kept" 2>"$kept.err"
	fi
	awk -v case_text="$3" '
		match($0, /"case": "[^"]*"/) {
			name = substr($0, RSTART + 9, RLENGTH - 10)
			if (name ~ case_text && match($0, /"median": [0-9.e+-]*/)) { print substr($0, RSTART + 10, RLENGTH - 10); found = 1; exit }
		}
		END { if (!found) print "-" }' "$kept"
}

# peer_seconds NAME: of the row that is being measured.
peer_seconds() {
	if [ "$1" = qsim ]; then
		[ -n "$qsim" ] && qsim_seconds "$qsim" || echo -
		return
	fi
	case " ${others%%:*} " in
	*" $1 "*) driver_seconds "$1" "${others#*: }" "$case" ;;
	*) echo - ;;
	esac
}

# ---- one line ----

# Peak memory in KiB, where it can be had, is the last line on the standard error.
timed=
[ ! -x /usr/bin/time ] || timed='/usr/bin/time -f %M'

# wanted SECTION: is it?
wanted() { echo "$1" | grep -qE "^$rows"; }

# Mean seconds of a row's work on one sample, of so many calls that a slow one does not decide.
single_seconds() {
	words=$(echo "$options" | sed 's/--batch *[0-9]*//; s/--runs *[0-9]*//; s/--optimizations[^ ]*//; s/--parts//')
	# shellcheck disable=SC2086
	"$QCNN" bench $words --runs 30 --no-limits --threads "$threads" --csv -q >"$work/one" && column "$work/one" seconds_mean
}

# keep_single AT_MOST BEFORE AFTER: a line of the ratios, the call over those of one sample.
keep_single() {
	r=$(calc '2*t/(a+b)' %.4g t="$(column "$work/csv" seconds_mean)" a="$2" b="$3")
	[ "$r" = - ] || printf '| %s: over one sample right before and after | %s | %s | %s |\n' "$name" "$r" "$1" \
		"$(calc 'r<=m' %d r="$r" m="$1" | sed 's/1/✓/; s/0/short/')" >>"$work/ratios"
}

# The seconds of a work by its name, for what is said below the table.
keep() { printf '%s|%s\n' "$name" "$1" >>"$work/kept"; }
kept() { sed -n "s/^$1|//p" "$work/kept"; }

# Seconds of a part of the row's step, and as a share of all parts: share SECONDS FORMAT.
part() { column "$work/csv" "parts_seconds_$1"; }
share() {
	calc 'p/(a+b+c+d+e+f+g)*s' "$2" p="$1" a="$(part matrices)" b="$(part encoding)" c="$(part states)" d="$(part losses)" \
		e="$(part chain)" f="$(part sums)" g="$(part waiting)" s=100
}

# The least share of the stream, in percent, among the row's passes that move a tenth of its bytes or more: others stay in caches.
slowest_pass() {
	# shellcheck disable=SC2086
	"$QCNN" bench $options --parts --threads "$threads" --json -q | tr '{' '\n' | awk -v all="$(column "$work/csv" bytes)" '
		function number(name) { return match($0, "\"" name "\": [0-9.e+-]*") ? substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4) + 0 : 0 }
		/"pass_seconds"/ && number("bytes") >= all / 10 { s = 100 * number("share_of_stream"); least = least == "" || s < least ? s : least }
		END { if (least != "") printf "%.1f\n", least }'
}

# reached GOAL: is it? Where the peer is not there nobody knows.
reached() {
	want=${1##*=} what=${1%%[<>]*}
	case $what in
	executed) have=$(calc 'f/l*s' %.1f f="$(column "$work/csv" gflop_s)" l="$fma" s=100) ;;
	nominal) have=$(calc 'f/l*s' %.1f f="$(column "$work/csv" gflop_s_nominal)" l="$fma" s=100) ;;
	passes) have=$(column "$work/csv" passes) ;;
	stream) have=$(slowest_pass) ;;
	matrices) have=$(share "$(part matrices)" %.1f) ;;
	mib) have=$(calc k/1024 %.1f k="$(tail -n 1 "$work/kib" | grep '^[0-9]*$')") ;;
	*) have=$(sed -n "s/^$what //p" "$work/times") ;;
	esac
	case ${have:--} in -) echo unknown; return ;; esac
	case $1 in
	*'>='*) calc 'h>=w' %d h="$have" w="$want" ;;
	*) calc 'h<=w' %d h="$have" w="$want" ;;
	esac | sed 's/1/yes/; s/0/no/'
}

goal_text() { echo "$1" | sed 's/^\(executed\|nominal\)>=\(.*\)/\2 % \1/; s/^passes<=\(.*\)/\1 passes/; s/^matrices<=\(.*\)/\1 % of it matrices/; s/^stream>=\(.*\)/each pass \1 % of the stream/; s/^mib<=\(.*\)/\1 MiB/; s/^\(.*\)>=\(.*\)/\2 × \1/'; }

put_goals() {
	text=
	for goal in $goals; do
		[ "${goal#single}" = "$goal" ] || continue   # keep_single
		case $(reached "$goal") in yes) mark=✓ ;; no) mark=short; short=1 ;; *) mark=\? ;; esac
		text="$text${text:+, }$(goal_text "$goal") $mark"
	done
	printf ' %s |' "${text:--}"
}

# What a row that is short of a goal spends: kernels, the floor of its plan.
keep_short() {
	printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$name" "$(calc 'f/l*s' '%.0f %%' f="$(column "$work/csv" gflop_s)" l="$fma" s=100)" \
		"$(nice_seconds "$(column "$work/csv" floor_seconds)")" "$(calc 's*h' '%.0f %%' s="$(column "$work/csv" share_of_floor)" h=100)" \
		"$(share "$(part states)" '%.0f %%')" "$(share "$(calc a+b %g a="$(part matrices)" b="$(part chain)")" '%.0f %%')" \
		"$(share "$(calc a+b+c %g a="$(part encoding)" b="$(part sums)" c="$(part waiting)")" '%.0f %%')" >>"$work/short"
}

row() {
	case $options in *--gradient*) states=2 ;; *) states=1 ;; esac
	fits "$qubits" $states || { echo "| $name | needs more memory than there is |"; return; }
	case $options in *@circuits*)
		[ -f "$circuits/circuit_q24.qsim" ] || return
		options=$(echo "$options" | sed "s|@circuits|$circuits|") ;;
	esac
	single=$(echo "$goals" | sed -n 's/.*single<=\([0-9]*\).*/\1/p')
	before=
	[ -z "$single" ] || before=$(single_seconds)
	# shellcheck disable=SC2086
	$timed "$QCNN" bench $options --threads "$threads" --csv -q >"$work/csv" 2>"$work/kib" || return
	ours=$(column "$work/csv" seconds_median)
	keep "$ours"
	[ -z "$single" ] || keep_single "$single" "$before" "$(single_seconds)"
	fma=$(column "$work/limits" "$(column "$work/csv" precision)")   # the most that was seen
	[ "$(column "$work/csv" limit)" != fma ] || fma=$(calc 'l>m?l:m' %g m="$fma" \
		l="$(calc 'f/s/1e9' %g f="$(column "$work/csv" flops_executed)" s="$(column "$work/csv" limit_seconds)")")
	: >"$work/times"
	short=
	printf '| %s | %s | %.0f %% %s | %s | %.0f | %.0f | %s |' "$name" "$(nice_seconds "$ours")" \
		"$(calc 's*h' %.0f s="$(column "$work/csv" share_of_limit)" h=100)" "$(column "$work/csv" limit)" \
		"$(calc 's*h' '%.0f %%' s="$(column "$work/csv" share_of_floor)" h=100)" "$(column "$work/csv" gflop_s)" \
		"$(column "$work/csv" gflop_s_nominal)" "$(column "$work/csv" passes)"
	for p in $peers; do
		theirs=$(peer_seconds "$p")
		times=$(calc 'a/b' %.3g a="$theirs" b="$ours")
		echo "$p $times" >>"$work/times"
		printf ' %s | %s |' "$(nice_seconds "$theirs")" "$times"
	done
	put_goals
	printf '\n'
	[ -z "$short" ] || keep_short
}

# ---- the page ----

cat <<EOT
# How fast it is

This page is what \`make bench\` prints (\`tests/bench/run.sh\`), losses as well as wins. Each line is one call: the median of
several, buffers resident, everything that a step needs inside the time; a call that takes seconds is measured once. Single
precision and no exact optimisations unless said. Shares and GFLOP/s are those of the fastest call, as limits are those of the fastest
loops. \`of limit\` is the share of what the machine does at best, measured in the same run: arithmetic (fma) or streaming.
\`of floor\` is the share of the plan's own roofline: each stage takes the longer of its visits of blocks and of streaming the
state, or writing what it has not read past the caches; each visit the longer of its arithmetic and of moving the block at the
rate of L2; and threads wait where there are fewer units of work than threads. \`nominal\` counts 32 flops an amplitude and
two-qubit block of the text (128 with the gradient). Peers run right after, with as many threads; × is the median of their calls
over that of ours. A call of 1,000 samples is one long one, in which the machine has its average speed: it is compared with the
mean of the calls of one sample, measured right before and right after it.

EOT
"$QCNN" info --measure --threads "$threads" >"$work/info"
sed -n "s/^limits .* $threads threads\\{0,1\\}: .*multiply-add \\([0-9.]*\\) GFLOP.s single, \\([0-9.]*\\) double.*/single,double\\n\\1,\\2/p" "$work/info" >"$work/limits"
sed -n '/^version\|^processor \|^caches\|^kernels\|^limits/s/^/    /p' "$work/info"
printf '    measured      %s, %s threads\n\n' "$(date +%Y-%m-%d)" "$threads"

: >"$work/kept"
: >"$work/short"
: >"$work/ratios"
grep -v '^#' "$here/rows" | grep -E "^$rows" >"$work/rows"
if [ -s "$work/rows" ]; then
	printf '| work | qcnn | of limit | of floor | GFLOP/s executed | nominal | passes |'
	for p in $peers; do printf ' %s | × |' "$p"; done
	printf ' goal |\n|---|--:|--:|--:|--:|--:|--:|'
	for p in $peers; do printf -- '--:|--:|'; done
	printf -- '---|\n'
fi
while IFS='|' read -r name options qubits goals qsim others case <&3; do
	row
done 3<"$work/rows"

# ---- ratios ----

# ratio TEXT, A, B, EXPRESSION of a and b, HOW MUCH AT MOST: a line where both were measured.
ratio() {
	r=$(calc "$4" %.3g a="$(kept "$2")" b="$(kept "$3")")
	[ "$r" = - ] || printf '| %s | %s | %s | %s |\n' "$1" "$r" "$5" "$(calc 'r<=m' %d r="$r" m="$(echo "$5" | tr -d ,)" | sed 's/1/✓/; s/0/short/')"
}

{
	ratio "qcnn 8: a sample in a batch of 16, of 1,024" "qcnn 8, gradient, batch 16" "qcnn 8, gradient, batch 1,024" "a/16/(b/1024)" 2.6
	ratio "qcnn 20, gradient: double, single" "qcnn 20, gradient, double" "qcnn 20, gradient" "a/b" 2.2
	ratio "qcnn 23, gradient: double, single" "qcnn 23, gradient, double" "qcnn 23, gradient" "a/b" 2.2
} >"$work/medians"
cat "$work/medians" "$work/ratios" >"$work/all_ratios"
[ ! -s "$work/all_ratios" ] || { printf '\n| ratio of times | measured | goal, at most | |\n|---|--:|--:|---|\n'; cat "$work/all_ratios"; }

# ---- whole processes ----

# least RUNS COMMAND...: seconds of the fastest run, start and end included.
least() {
	runs=$1
	shift
	while [ "$runs" -gt 0 ]; do
		began=$(date +%s%N)
		"$@" >/dev/null 2>&1 || break
		echo $(($(date +%s%N) - began))
		runs=$((runs - 1))
	done | sort -n | awk 'NR == 1 { printf "%.4g", $1 / 1e9 }'
}

# process TEXT GOAL COMMAND...
process() {
	what=$1 goal=$2
	shift 2
	took=$(least 10 "$@")
	printf '| %s | %s | %s | %s |\n' "$what" "$(nice_seconds "${took:--}")" "$(nice_seconds "$goal")" \
		"$(calc 't<=g' %d t="${took:--}" g="$goal" | sed 's/1/✓/; s/0/short/')"
}

cluster=$here/../../examples/cluster/config.yaml
if wanted processes && [ -f "$cluster" ]; then
	cat <<-'EOT'

	## Whole processes

	From the start of the program to its end; the fastest of ten.

	| process | time | goal | |
	|---|--:|--:|---|
	EOT
	process "train examples/cluster, one start, 25 epochs, logs and final save" 0.1 "$QCNN" train "$cluster" --set train.restarts=1 \
		--set log.dir="$work/runs" -q
	process "start, compile, plan, allocate and three steps of qcnn 8, gradient, batch 16" 0.02 "$QCNN" bench --circuit qcnn --qubits 8 \
		--gradient --batch 16 --runs 1 --no-limits --threads "$threads"
fi

# ---- threads ----

if wanted threads && [ "$threads" -gt 1 ]; then
	cat <<-EOT

	## Threads

	How many times as fast $threads threads are as one, fastest call against fastest call, beside the same of the limit that bounds
	the work: arithmetic, or streaming where there is more of it. Times are medians. Of three runs, each number's least.

	| work | one thread | $threads threads | gain | of the limit | share | goal |
	|---|--:|--:|--:|--:|--:|---|
	EOT
	for n in 16 18 20 23; do
		batch=1
		[ $n -gt 16 ] || batch=16
		for run in 1 2 3; do
			"$QCNN" bench --circuit qcnn --qubits $n --gradient --batch $batch --threads "1,$threads" --csv -q >"$work/csv" || continue 2
			echo "$(column "$work/csv" seconds_median 2) $(column "$work/csv" seconds_median 3)" \
				"$(column "$work/csv" seconds_min 2) $(column "$work/csv" seconds_min 3)" \
				"$(column "$work/csv" limit_seconds 2) $(column "$work/csv" limit_seconds 3)"
		done >"$work/gains"
		# shellcheck disable=SC2046
		set -- $(awk '{ for (i = 1; i <= 6; i++) if (NR == 1 || $i < least[i]) least[i] = $i } END { for (i = 1; i <= 6; i++) print least[i] }' "$work/gains")
		gain=$(calc a/b %.3f a="$3" b="$4") limit=$(calc a/b %.3f a="$5" b="$6")
		share=$(calc '100*g/l' %.0f g="$gain" l="$limit")
		printf '| qcnn %s, gradient, batch %s | %s | %s | %.2f | %.2f | %s %% | 95 %% %s |\n' $n $batch "$(nice_seconds "$1")" \
			"$(nice_seconds "$2")" "$gain" "$limit" "$share" "$(calc 's>=95' %d s="$share" | sed 's/1/✓/; s/0/short/')"
	done
fi

# ---- what is short ----

if [ -s "$work/short" ]; then
	cat <<-'EOT'

	## Where a goal is not reached

	The floor is what the machine needs at best for the plan; the rest of the line is where the time of a step goes, where
	`--parts` tells it: kernels on states, matrices and the chain rule to the weights, and encoding, sums and waiting.

	| work | executed, of fma | floor of the plan | of floor | kernels | matrices, chain rule | the rest |
	|---|--:|--:|--:|--:|--:|--:|
	EOT
	cat "$work/short"
	cat "$here/tried.md"
fi

if [ -n "${KERNELS:-}" ] && wanted kernels; then
	cat <<-'EOT'

	## What bounds it

	Arithmetic is dense matrices of two and three qubits on blocks that stay in L1 or L2. Each kernel alone, as a share of
	the multiply-adds that the same thread does on registers:

	EOT
	"$KERNELS"
	cat <<-'EOT'

	A step has at most the share of its kernels; the rest goes to encoding and building small matrices, to gathering
	blocks and exchanging lanes, to sums in double and in fixed point. Where a step is below that, this is the gap.
	EOT
fi

# ---- growth ----

# The largest number of qubits up to 28 of which one state fits.
largest() {
	n=28
	until fits $n 1; do n=$((n - 1)); done
	echo $n
}

if wanted growth; then
	plot=${PLOT:-$work/growth.svg}
	"$QCNN" bench --circuit brickwork --qubits "4-$(largest)" --amplitudes 1048576 --threads "$threads" --plot "$plot" --plot-of amplitude \
		--csv -q >"$work/growth"
	"$QCNN" bench --circuit brickwork --qubits 4-11 --amplitudes 1048576 --threads "$threads" --no-limits --parts --csv -q >"$work/parts"
	"$QCNN" bench --circuit brickwork --qubits 4-11 --threads "$threads" --no-limits --csv -q >"$work/single"
	cat <<-'EOT'

	## Growth

	Nanoseconds per amplitude and apply of eight layers of two-qubit matrices (`--circuit brickwork`), forward, in calls of 2^20
	amplitudes and more (`--amplitudes 1048576`): × is the ratio to the line above, and a jump beyond 1.5 either way is explained
	by what was measured. `one sample` is a call of a single one: up to 10 qubits it takes as long as one of as many samples as a
	vector has numbers, in whose lanes they lie, since the bits of a sample must not depend on how many come with it.

	![Time per amplitude and apply against the number of qubits](growth.svg)

	| qubits | samples | shape | passes | ns | × | of floor | one sample | |
	|--:|--:|---|--:|--:|--:|--:|--:|---|
	EOT
	caches=$("$QCNN" info --json | sed 's/.*"caches": \[\([^]]*\).*/\1/' | grep -o '"bytes": [0-9]*' | sed 's/.* //' | tr '\n' ' ')
	awk -F, -v caches="$caches" -f "$here/growth.awk" "$work/parts" "$work/single" "$work/growth"
fi

# Measured once, by hand: the peers need minutes and MPI.
if wanted split; then
	cat "$here/split_peers.md"
fi

cat <<'EOT'

Another machine: [a Xeon](xeon.md). What GPUs are expected to take: [predictions](gpu.md). What states of 40 to 46
qubits are expected to take that are split over 1,024 to 65,536 machines: [predictions](split.md).
Where peers have no number they cannot do the work, or their driver does not have it, or it would take minutes.
To repeat it: `make bench`; with peers
`make bench PEER_PYTHON_QSIM=/path/to/python PEER_PYTHON_LIGHTNING=…`.
EOT
