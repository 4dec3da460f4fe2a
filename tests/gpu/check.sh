#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh [-q] [-o FOLDER] [QCNN]: all that only a GPU can show, in minutes, as FOLDER/check.md and check.json.
#
# -q: small sizes and few runs; so it runs on the emulated GPU too, where it is itself tested. The exit status is 1 if a check
# fails; what cannot be checked here is said and is no failure.
set -u
folder=gpu-check quick=
while getopts qo: option; do
	case $option in
	q) quick=1 ;;
	o) folder=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
qcnn=$(command -v "${1:-./qcnn}") || { echo "check.sh: there is no program ${1:-./qcnn}" >&2; exit 2; }
mkdir -p "$folder" || exit 2
qcnn=$(cd "$(dirname "$qcnn")" && pwd)/$(basename "$qcnn")
cd "$folder" || exit 2
failed=0
: >rows

# row NAME ok|FAILED|skipped TEXT
row() {
	printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>rows
	printf '%-8s %s: %s\n' "$2" "$1" "$3"
	[ "$2" != FAILED ] || failed=1
}
first_line() { head -n 1 "$1" | cut -c 1-200; }

if ! "$qcnn" run --device=cuda -q --emit=outputs /dev/stdin >out 2>err <<'END'
QCNN 1;
qubit[1] q;
observe z(q[0]);
END
then
	row device FAILED "$(first_line err)"
	exit 1
fi
device=$("$qcnn" info | sed -n 's/^cuda:0 *//p')
row device ok "$device"

# ---- the right numbers, and the same digits ----
if "$qcnn" info --selftest --device=cuda:0 --json >selftest.json 2>err; then
	row self-test ok "$(grep -o '"digits": "same"' selftest.json | grep -c .) of $(grep -o '"digest"' selftest.json | grep -c .) results have the expected digits"
else
	row self-test FAILED "$("$qcnn" info --selftest --device=cuda:0 2>&1 | tail -n 1)"
fi
runs=${quick:+2}
runs=${runs:-100}
n=0
: >digests
while [ $n -lt "$runs" ]; do
	"$qcnn" info --selftest --device=cuda --json 2>err | cksum >>digests
	n=$((n + 1))
done
kinds=$(sort -u digests | grep -c .)
[ "$kinds" = 1 ] && row repetition ok "$runs runs on all GPUs, the same digits" || row repetition FAILED "$kinds different results in $runs runs"
"$qcnn" info --selftest --device=cuda --json >one 2>err & first=$!
"$qcnn" info --selftest --device=cuda --json >two 2>>err & second=$!
if wait $first && wait $second && cmp -s one two; then
	row "two processes" ok "the same digits beside each other"
else
	row "two processes" FAILED "$(first_line err)"
fi

# ---- GPUs that exchange parts of states ----
qubits=${quick:+9}
qubits=${qubits:-24}
cat >split.qcnn <<END
QCNN 1;
const int n = $qubits;
qubit[n] q;
param float[n] w;
ry(each w) on q;
for int k in [0:n-2] { cx q[k], q[k+1]; }
rxx(w[0]) q[0], q[n-1];
ry(each w) on q;
observe z(q[0]) * z(q[n-1]);
END
if [ "$("$qcnn" info | grep -c '^cuda:')" -lt 2 ]; then
	row NCCL skipped "there is one GPU"
elif ! "$qcnn" run -v --device=cuda --ranks=2 --seed=3 --emit=jacobian split.qcnn >one 2>err; then
	row NCCL FAILED "$(tail -n 1 err)"
elif ! grep -q 'GPUs exchange by NCCL' err; then
	row NCCL skipped "$(sed -n 's/.*GPUs exchange by //p' err)"
else
	way=$(sed -n 's/.*GPUs exchange by //p' err)
	CUDA_VISIBLE_DEVICES=0 EMU_DEVICES=1 "$qcnn" run --device=cuda --ranks=2 --seed=3 --emit=jacobian split.qcnn >two 2>err
	cmp -s one two && row NCCL ok "two ranks by $way: the same digits as through memory of the host" ||
		row NCCL FAILED "by $way: other digits than through memory of the host"
fi

# ---- times of kernels ----
"$qcnn" profile --no-limits --device=cuda:0 --gradient --steps=20 split.qcnn >out 2>err
status=$?
why=$(sed -n 's/^cuda:0 timed by //p' out)
case $status$why in
0) row CUPTI ok "$("$qcnn" info | sed -n 's/^profile  *of GPUs: //p') times each kernel and copy" ;;
0*missing* | 0*records\ are\ not*) row CUPTI FAILED "$why" ;;
0*) row CUPTI skipped "$why" ;;
*) row CUPTI FAILED "$(first_line err)" ;;
esac

# ---- what it refuses ----
printf 'QCNN 1;\nqubit[36] q;\nh q;\nobserve z(q[0]);\n' >large.qcnn
"$qcnn" run --device=cuda:0 large.qcnn >out 2>err
status=$?
[ $status -eq 78 ] && row "out of memory" ok "$(first_line err)" || row "out of memory" FAILED "status $status: $(first_line err)"

# ---- tools of the toolkit ----
for tool in memcheck racecheck initcheck synccheck; do
	if ! command -v compute-sanitizer >/dev/null || [ -n "$quick" ]; then
		row "compute-sanitizer $tool" skipped "there is no compute-sanitizer, or -q"
	elif compute-sanitizer --tool $tool --error-exitcode 97 "$qcnn" info --selftest --device=cuda:0 >out 2>&1; then
		row "compute-sanitizer $tool" ok "no errors"
	else
		row "compute-sanitizer $tool" FAILED "$(tail -n 1 out)"
	fi
done

# ---- times ----
# job NAME OPTION...: seconds of a call on one GPU, and on the processor.
job() {
	name=$1
	shift
	for where in cuda:0 cpu; do
		"$qcnn" bench --device=$where --no-limits --json ${quick:+--runs=1} "$@" >bench.json 2>err ||
			{ row "$name" FAILED "$where: $(first_line err)"; return; }
		cat bench.json >>times.json
		eval "$(echo $where | tr -d ':0')=$(sed -n 's/.*"seconds": {"min": \([^,]*\),.*/\1/p' bench.json)"
	done
	row "$name" ok "$(awk -v g="$cuda" -v c="$cpu" 'BEGIN { printf "%.4g ms on the GPU, %.4g ms on the processor, %.3g times", 1e3 * g, 1e3 * c, c / g }')"
}
: >times.json
if [ -n "$quick" ]; then
	job "QCNN, 8 qubits, batch 32, gradient" --circuit=qcnn --qubits=8 --batch=32 --gradient
	job "entangling layer, 13 qubits" --circuit=sel --qubits=13 --layers=1
else
	job "QCNN, 23 qubits, gradient" --circuit=qcnn --qubits=23 --gradient
	job "QCNN, 8 qubits, batch 65,536, gradient" --circuit=qcnn --qubits=8 --batch=65536 --gradient
	job "entangling layer, 28 qubits" --circuit=sel --qubits=28 --layers=1
	job "three entangling layers, 28 qubits" --circuit=sel --qubits=28 --layers=3
	job "brickwork, 30 qubits, depth 20" --circuit=brickwork --qubits=30 --layers=20
	# Where a GPU begins to pay.
	for qubits in 4 8 12 16 20; do
		for batch in 1 32 1024; do
			[ $((qubits > 16 ? batch : 1)) -le 32 ] && job "QCNN, $qubits qubits, batch $batch, gradient" --circuit=qcnn --qubits=$qubits --batch=$batch --gradient
		done
	done
fi

# ---- the tables ----
{
	printf '# %s\n\n`%s` on %s.\n\n| check | result | |\n|---|---|---|\n' "GPU check" "$("$qcnn" --version)" "$device"
	awk -F'\t' '{ printf "| %s | %s | %s |\n", $1, $2, $3 }' rows
} >check.md
{
	printf '{"schema": 1, "device": "%s", "rows": [' "$device"
	sed 's/[\\"]/\\&/g' rows | awk -F'\t' '{ printf "%s{\"check\": \"%s\", \"result\": \"%s\", \"text\": \"%s\"}", (NR > 1 ? ", " : ""), $1, $2, $3 }'
	printf ']}\n'
} >check.json
rm -f rows out err one two digests large.qcnn split.qcnn bench.json
echo "$folder/check.md"
exit $failed
