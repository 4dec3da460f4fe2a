# SPDX-License-Identifier: Apache-2.0
# States that no memory holds are refused beforehand, whatever asks for them; so are limits set with ulimit.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_files
cat >big.qcnn <<'END_OF_MODEL'
QCNN 1;
const int n = 30;
qubit[n] q;
input float[2] x;
param float[2] t;
rx(t[0]*x[0]) q[0];
ry(t[1]*x[1]) q[n-1];
cx q[0], q[n-1];
h q;
observe z(q[0])*x(q[n-1]);
head { dense(1, tanh); }
END_OF_MODEL
sed 's/two/big/' table.yaml >big.yaml
echo 'run: {method: statevector}' >>big.yaml
run_states() { "$QCNN" run --method=statevector "$@"; }
for n in 38 48 50 51 59 60 61 62 63 64 65 1000 4096; do
	for precision in single double; do
		tap_exit 78 "run, $n qubits, $precision" run_states -q --const n=$n --precision=$precision --data new.csv big.qcnn
		grep -q 'needs .* available' err
		tap_result $? "with both sizes" || sed 's/^/# /' err
	done
	tap_exit 78 "on ref, $n qubits" run_states -q --const n=$n --device=ref --data new.csv big.qcnn
	tap_exit 78 "derivatives, $n qubits" run_states -q --const n=$n --emit=jacobian --data new.csv big.qcnn
	tap_exit 78 "a state, $n qubits" run_states -q --const n=$n --emit=state --data new.csv big.qcnn
	tap_exit 78 "train, $n qubits" "$QCNN" train -q --const n=$n --set run.optimizations=none -o big.bin big.yaml
	grep -q 'needs .* available' err
	tap_result $? "with both sizes" || sed 's/^/# /' err
done
for n in 4097 2147483648 4294967296 9223372036854775807 9223372036854775808; do
	tap_exit 65 "$n qubits are none" "$QCNN" check --const n=$n big.qcnn
done
tap_ok "nothing was written" test ! -e big.bin
# What the observables see is small: light cones train it whatever the text's qubits are.
tap_exit 0 "4096 qubits of which two matter" "$QCNN" train -q --const n=4096 --set log.dir=cones -o cones.bin big.yaml
"$QCNN" train -q --const n=4 --set run.optimizations=none --set log.dir=cones -o four.bin big.yaml
for w in cones four; do "$QCNN" weights show $w.bin | grep -v '^#' | awk '{ for (i = 1; i <= NF; i++) printf "%.4f ", $i }' >$w.weights; done
tap_same cones.weights four.weights "the weights are those of four qubits"

# Workers of one machine allocate their states at the same time: each gets an equal part of its memory.
for how in -m -rm none; do
	[ $how = none ] || unshare $how sh -c ': >probe && mount --bind probe /proc/meminfo' 2>/dev/null && break
done
if [ $how = none ]; then
	tap_skip "no mount namespace"
else
	printf 'MemTotal: %d kB\nMemAvailable: %d kB\n' 120000 110000 >meminfo
	shared() { # WORKERS QUBITS
		unshare $how sh -c 'mount --bind meminfo /proc/meminfo && exec "$@"' shared "$QCNN" train --dry-run --hosts local:$1 \
			--const n=$2 --set run.optimizations=none --set run.threads=1 big.yaml
	}
	tap_exit 0 "three workers with 32 MiB each have memory" shared 3 21
	tap_exit 78 "four have too little" shared 4 21
	tap_has err "29.3 MiB available, enough for 20; 4 workers share the memory of that machine" "and that they share it is said"
fi

if ! sh -c "ulimit -v 200000 && '$QCNN' --version" >/dev/null 2>&1; then
	tap_skip "this program needs more address space than the limits here"
	tap_done
fi
"$QCNN" train -q --const n=20 --set train.epochs=1 --set train.max_steps=1 -o 20.bin big.yaml
limited() {
	kib=$1
	shift
	(ulimit -v "$kib"; "$QCNN" "$@") >out 2>err </dev/null
	got=$?
	[ $got -eq 78 ] && grep -q 'needs .* MiB for .* [0-9.]* [MK]*i*B available\|needs .* 0 bytes available' err
	tap_result $? "under ulimit -v $kib: $1" || { tap_note "status $got"; sed 's/^/# /' err; }
}
limited 24000 run --method=statevector -q --const n=22 --data new.csv big.qcnn
limited 24000 run --method=statevector -q --const n=22 --emit=jacobian --data new.csv big.qcnn
limited 24000 train -q --const n=22 --set run.optimizations=none big.yaml
limited 16000 infer 20.bin
(ulimit -v 24000; "$QCNN" info --measure --threads=1) >out 2>err
tap_is "$? $(grep -c . out) $(cat err)" "78 0 qcnn info: error: no memory to measure the stream rate with" "under ulimit -v: info --measure"
# In between it fits, with fewer threads perhaps; the bits are the same, or it is refused.
"$QCNN" run --method=statevector -q --const n=18 --threads=4 --emit=jacobian --data new.csv big.qcnn >expected
for kib in 20000 24000 28000 32000 36000 40000 50000 53000 56000 60000; do
	got=0
	(ulimit -v $kib; "$QCNN" run --method=statevector -q --const n=18 --threads=4 --emit=jacobian --data new.csv big.qcnn) >out 2>err || got=$?
	[ $got -eq 78 ] || { [ $got -eq 0 ] && cmp -s out expected; }
	tap_result $? "four threads in $kib KiB: right or refused" || { tap_note "status $got"; sed 's/^/# /' err; }
done
"$QCNN" infer --threads=4 20.bin >expected
for kib in 50000 54000 57000 59000 61000; do
	got=0
	(ulimit -v $kib; "$QCNN" infer --threads=4 20.bin) >out 2>err || got=$?
	[ $got -eq 78 ] || { [ $got -eq 0 ] && cmp -s out expected; }
	tap_result $? "infer, four threads in $kib KiB: right or refused" || { tap_note "status $got"; sed 's/^/# /' err; }
done
# Threads whose stacks find no room: the OpenMP library ends the process.
(ulimit -v 400000; OMP_STACKSIZE=1G exec "$QCNN" bench --circuit qcnn --qubits 18 --threads 4 --runs 1 --no-limits) >out 2>err
tap_is "$? $(grep -c 'because it got no more memory or threads' err)" "78 1" "bench without threads"
# Where workers compute, this process needs no state: its own limit does not count, theirs does.
printf '#!/bin/sh\nshift\nulimit -Sv unlimited\nexec sh -c "$*"\n' >roomy
printf '#!/bin/sh\nshift\nulimit -Sv 110000\nexec sh -c "$*"\n' >narrow
chmod +x roomy narrow
far() { (ulimit -Sv 110000; exec "$QCNN" bench --circuit ghz --qubits 24 --runs 1 --threads 1 --no-limits "$@"); }
tap_exit 78 "24 qubits do not fit" far
tap_exit 0 "but with a worker that has room" far --hosts 127.0.0.1 --launcher "exec:$PWD/roomy"
tap_exit 78 "and not with one that has none" far --hosts 127.0.0.1 --launcher "exec:$PWD/narrow"
tap_ok "which says so, by name" grep -q '127.0.0.1\[0\]: .*needs 128.0 MiB' err
tap_done
