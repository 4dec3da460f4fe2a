#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a step by workers costs beyond its computing, beside Open MPI's allreduce of as many numbers; how
# well workers of different speeds share a step; two workers beside two threads.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

sleepers=$top_builddir/tests/net/sleeping_workers
# value NAME < line of name=value
value() { tr ' ' '\n' | sed -n "s/^$1=//p"; }
# holds EXPRESSION: of awk
holds() { awk "BEGIN { exit !($1) }"; }

# ---- a step of 63 weights; each worker turns 50 us, and this machine's cores share that ----
mpi() {
	[ -x allreduce ] || mpicc -O2 "$top_srcdir/tests/net/allreduce.c" -o allreduce >mpi.out 2>&1 || return 1
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe --mca btl self,tcp -n "$1" ./allreduce "$2" "$3" 2>mpi.err
}
cores=$(nproc)
for row in 2:60 4:150; do
	n=${row%:*} most=${row#*:}
	own=$(for i in 1 2 3; do "$sleepers" $n 63 $n 3000 50; done | value median | sort -n | head -1)
	work=$(awk -v n=$n -v c="$cores" 'BEGIN { k = n < c ? 1 : n / c; print 50 * k }')
	over=$(awk -v a="$own" -v b="$work" 'BEGIN { print a - b }')
	theirs=$(mpi $n 63 3000 | value median)
	tap_ok "$n workers, 63 weights: median $over us beyond computing (at most $most); Open MPI's allreduce by TCP ${theirs:-not installed} us" \
		holds "$over <= $most"
done

# ---- what encryption costs: least of runs that take turns ----
for n in 2 4; do
	on= off=
	for i in 1 2 3 4 5; do
		on="$on $("$sleepers" $n 63 $n 2000 50 | value least)"
		off="$off $("$sleepers" $n 63 $n 2000 50 off | value least)"
	done
	ratio=$(echo "$on / $off" | awk '{ for (i = 1; $i != "/"; i++) if (!a || $i < a) a = $i; for (i++; i <= NF; i++) if (!b || $i < b) b = $i; print a / b }')
	tap_ok "$n workers, 63 weights: encryption makes a step $ratio times as long (at most 1.5)" holds "$ratio <= 1.5"
done

# ---- 100,000 weights ----
line=$(for i in 1 2 3; do "$sleepers" 2 100000 2 200 100; done | sort | head -1)
median=$(echo "$line" | value median) bytes=$(echo "$line" | value bytes) rate=$("$sleepers" swap 4800000 | value rate)
sealing=$("$sleepers" seal 1600000 | value rate)
least=$(awk -v b="$bytes" -v r="$rate" -v s="$sealing" 'BEGIN { print (b / r + 2 * b / s) * 1e6 }')
theirs=$(mpi 2 100000 200 | value median)
tap_ok "100,000 weights: median $median us; $bytes bytes at the swap rate of $rate a second, sealed and opened at $sealing, take $least (at most 1.5 of it); allreduce ${theirs:-not installed} us" \
	holds "$median - 100 <= 1.5 * $least"

# ---- many, and uneven ----
# reaches NAME LEAST WORKERS UNITS US...: the part of the sum of speeds that the median step reaches.
reaches() {
	line=$("$sleepers" "$3" 63 "$4" 10 "$5") median=$(echo "$line" | value median) ideal=$(echo "$line" | value ideal)
	part=$(awk -v a="$ideal" -v b="$median" 'BEGIN { print a / b }')
	tap_ok "$1: $part of the sum of their speeds (at least $2)" holds "$part >= $2"
}
reaches "64 workers" 0.95 64 4096 4000
reaches "64 workers of seven speeds" 0.95 64 4096 4000,8000,4000,2000,6000,10000,4000
reaches "4 workers, one at half speed" 0.87 4 64 4000,2000
reaches "8 workers, one at half speed" 0.87 8 128 4000,2000

# ---- two workers, two threads ----
# rate N BATCH OPTIONS...: samples a second of the best epoch.
rate() {
	n=$1 batch=$2
	shift 2
	"$QCNN" train -q "$top_srcdir/examples/cluster-legacy/config.yaml" --set model.const.n=$n --set data.rounds=200 \
		--set train.batch_size=$batch --set train.epochs=3 --set 'run.optimizations=[]' --fresh --set log.dir="$PWD/runs" \
		--set log.report=false --set log.tensorboard=false "$@" >out 2>&1 || { cat out >&2; return 1; }
	grep -o '"samples_per_second": [0-9.]*' runs/latest/metrics.jsonl | cut -d' ' -f2 | sort -n | tail -1
}
for row in 12:64 12:256 14:64; do
	n=${row%:*} batch=${row#*:} threads= workers=
	for i in 1 2 3; do
		threads="$threads $(rate $n $batch --set run.threads=2)"
		workers="$workers $(rate $n $batch --set run.threads=1 --hosts local:2)"
	done
	part=$(echo "$threads /$workers" | awk '{ for (i = 1; $i != "/"; i++) if ($i > t) t = $i; for (i++; i <= NF; i++) if ($i > w) w = $i; print w / t }')
	tap_ok "$n qubits, batch $batch: two workers do $part of two threads (at least 0.95)" holds "$part >= 0.95"
done
tap_done
