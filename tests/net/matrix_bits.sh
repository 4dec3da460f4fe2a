#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same weights, byte for byte, by 1, 2, 3, 4 and 8 workers, each of which takes part: of this machine, by ssh, and
# started together by srun of a real Slurm and by mpirun; encrypted and not, and with one at half speed; of the
# multi-worker job, of large batches and of 18 qubits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"
. "$top_srcdir/tests/net/slurm.sh"

lab_open 4 || tap_skip_all "$lab_why"
trap 'end_slurm; lab_close' EXIT
hows="local ssh"
start_slurm && hows="$hows srun" || tap_skip "$slurm_why"
if command -v mpirun.openmpi >/dev/null; then
	mpirun="mpirun.openmpi --oversubscribe"
	[ "$(id -u)" != 0 ] || mpirun="$mpirun --allow-run-as-root"
	hows="$hows mpirun"
else
	tap_skip "Open MPI is not installed"
fi
examples=$top_srcdir/examples
few="--set log.dir=runs --set log.report=false --set log.tensorboard=false --set train.restarts=1 --set run.threads=1 --fresh --no-progress"
exec_train() {
	config=$1
	shift
	lab_exec 0 "$QCNN" train "$config" $few "$@" >out 2>err
}
train() { (exec_train "$@"); }
# train_by HOW N CONFIG OPTIONS...
train_by() {
	by=$1 config=$3
	case $by in local | ssh) hosts=$(hosts_of $1 $2) ;; srun) together="srun --overcommit -N $(($2 < 3 ? $2 : 3)) -n $2" ;; mpirun) together="$mpirun -n $2" ;; esac
	shift 3
	case $by in
	local | ssh) train "$config" --hosts "$hosts" "$@" ;;
	*) $together "$QCNN" train "$config" $few "$@" >out 2>err </dev/null ;;
	esac
}
# All have done some units, or as many as a step has units.
all_work() {
	working=$(grep -o '"units": [1-9]' runs/latest/run.json | wc -l)
	[ $working -ge $n ] || [ $working -ge $most ]
}
hosts_of() {
	case $1 in
	local) echo local:$2 ;;
	ssh) seq $2 | awk '{ printf "%sh%d", (NR > 1) ? "," : "", ($1 - 1) % 4 + 1 }' ;;
	esac
}
# Half of the time stopped, until $1 (the coordinator) ends.
half_speed() {
	while slow=$(ps -o pid=,comm= --ppid $1 | awk '$2 == "qcnn" { print $1; exit }') && kill -0 $1 2>/dev/null; do
		[ -z "$slow" ] || { kill -STOP $slow; sleep 0.02; kill -CONT $slow; } 2>/dev/null
		sleep 0.02
	done
}

# same NAME UNITS CONFIG [options]: UNITS of a whole batch.
same() {
	name=$1 most=$2 config=$3
	shift 3
	train "$config" "$@" -o want.bin || tap_note "$(tail -3 err)"
	for n in 1 2 3 4 8; do
		for how in $hows; do
			for encrypt in on off; do
				train_by $how $n "$config" "$@" -o got.bin --encrypt=$encrypt || tap_note "$(tail -3 err)"
				tap_ok "$name: $n workers, $how, encrypt=$encrypt" cmp want.bin got.bin
				case $how:$n in srun:1 | mpirun:1) ;; *) tap_ok "all of them work" all_work ;; esac
				rm -f got.bin
			done
		done
	done
	(exec_train "$config" "$@" -o got.bin --hosts local:3) &
	pid=$!
	half_speed $pid &
	slower=$!
	wait $pid || tap_note "$(tail -3 err)"
	wait $slower
	tap_ok "$name: one of three workers at half speed" cmp want.bin got.bin
	rm -f got.bin
}

same "the multi-worker job, batches of 64" 4 "$examples/cluster-legacy/config.yaml" --set train.epochs=4
same "1,000 samples, batches of 250" 16 "$examples/cluster/config.yaml" --set run.optimizations=none --set data.rounds=125 --set data.split=0.999 --set train.batch_size=250 --set train.epochs=3
same "18 qubits" 8 "$examples/cluster-hybrid/config.yaml" --set model.const.n=18 --set data.rounds=1 --set train.batch_size=8 --set train.epochs=1
tap_done
