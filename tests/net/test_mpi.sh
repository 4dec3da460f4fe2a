#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The launchers of Open MPI and MPICH, as Debian has them: several processes, one job, or one split state, the bits of one process.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

cp "$top_srcdir"/examples/cluster-hybrid/* "$top_srcdir"/examples/batch/mpi.sh "$top_srcdir"/examples/batch/mpi-split.sh .
few="--set log.report=false --set log.tensorboard=false --no-progress --set train.restarts=1 --set train.epochs=2"
timeout 100 "$QCNN" train config.yaml $few --fresh -o want.bin >out 2>err || tap_note "$(cat err)"

# 18 qubits, which four processes hold together.
mkdir split
cp "$top_srcdir"/examples/cluster/* split
large="-q --fresh --set=train.restarts=1 --set=data.rounds=1 --set=train.epochs=1 --set=train.batch_size=2 --const=n=18"
timeout 100 "$QCNN" train $large --set=run.split=4 -o whole.bin split/config.yaml >out 2>err || tap_note "$(cat err)"
"$QCNN" infer -q whole.bin >whole.out

# launcher NAME COMMAND...
launcher() {
	name=$1
	shift
	for n in 2 4; do
		rm -f got.bin
		timeout 100 "$@" -n $n "$QCNN" train config.yaml $few --fresh -o got.bin >out 2>err </dev/null
		tap_is $? 0 "$n processes by $name" || tap_note "$(tail -20 err)"
		tap_ok "the weights are the same" cmp want.bin got.bin
		tap_is "$(grep -c "$n processes that .* has started form one job" err)" 1 "rank 0 alone says so"
	done
	timeout 100 "$@" -n 2 "$QCNN" train config.yaml --set train.loss=none --fresh >out 2>err </dev/null
	tap_is $? 78 "a faulty configuration"
	tap_is "$(cat out err | grep -c 'error.*train.loss')" 1 "is said once"
	MPIRUN="$*" timeout 100 sh mpi.sh 2 config.yaml $few --fresh -o got.bin >out 2>err </dev/null
	tap_is $? 0 "examples/batch/mpi.sh with $name"
	tap_ok "the weights are the same" cmp want.bin got.bin
	for n in 2 4; do
		rm -f got.bin
		timeout 100 "$@" -n $n "$QCNN" train $large --set=run.split=4 --ranks=$n -o got.bin split/config.yaml >out 2>err </dev/null
		tap_is "$? $(cat out)" "0 " "$n processes by $name hold a state together" || tap_note "$(tail -20 err)"
		tap_ok "the weights are the same" cmp whole.bin got.bin
	done
	rm -f got.bin
	MPIRUN="$*" timeout 100 sh mpi-split.sh 4 $large -o got.bin split/config.yaml >out 2>err </dev/null
	tap_is $? 0 "examples/batch/mpi-split.sh with $name" || tap_note "$(tail -20 err)"
	tap_ok "the weights are the same" cmp whole.bin got.bin
	timeout 100 "$@" -n 4 "$QCNN" infer -q --ranks=4 whole.bin >got.out 2>err </dev/null
	tap_same got.out whole.out "and so are the predictions"
}

export QCNN
if command -v mpirun.openmpi >/dev/null; then
	root=
	[ "$(id -u)" != 0 ] || root=--allow-run-as-root
	launcher "Open MPI" mpirun.openmpi $root --oversubscribe
else
	tap_skip "Open MPI is not installed"
fi
if command -v mpiexec.hydra >/dev/null; then
	launcher "MPICH" mpiexec.hydra
else
	tap_skip "MPICH is not installed"
fi
tap_done
