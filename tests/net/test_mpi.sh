#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The launchers of Open MPI and MPICH, as Debian has them: several processes, one job, or one split state, or groups with such states,
# the bits of one process. And by their messages: --transport=mpi.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/held_training.sh"

cp "$top_srcdir"/examples/cluster-hybrid/* "$top_srcdir"/examples/batch/mpi.sh "$top_srcdir"/examples/batch/mpi-split.sh .
few="--set log.report=false --set log.tensorboard=false --no-progress --set train.restarts=1 --set train.epochs=2"
timeout 100 "$QCNN" train config.yaml $few --fresh -o want.bin >out 2>err || tap_note "$(cat err)"

# 18 qubits, which four processes hold together.
mkdir split
cp "$top_srcdir"/examples/cluster/* split
large="-q --fresh --set=train.restarts=1 --set=data.rounds=1 --set=train.epochs=1 --set=train.batch_size=2 --const=n=18"
timeout 100 "$QCNN" train $large --set=run.split=4 -o whole.bin split/config.yaml >out 2>err || tap_note "$(cat err)"
"$QCNN" infer -q whole.bin >whole.out

# Processes that end at once, each with files of its own: MPICH's launcher may die of SIGPIPE then, before it has passed on what
# they print, and Open MPI's ends the others. by_two COMMAND..., by the launcher $by: leaves said.0, said.1, and $statuses.
cat >own <<'END'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK-$PMI_RANK}
"$@" >said.$rank 2>&1
echo $? >ended.$rank
END
chmod +x own
by_two() {
	rm -f said.? ended.?
	timeout 100 $by -n 2 ./own "$@" >out 2>err </dev/null
	statuses=$(cat ended.0 ended.1 | tr '\n' ' ')
}

# by_mpi NAME COMMAND...: what ranks do whose transport is mpi.
by_mpi() {
	name=$1
	shift
	by=$*
	for n in 2 4; do
		rm -f got.bin
		timeout 100 "$@" -n 4 "$QCNN" train --transport=mpi $large --set=run.split=4 --ranks=$n -o got.bin split/config.yaml >out 2>err </dev/null
		tap_is "$? $(cat out)" "0 " "4 processes by the messages of $name, groups of $n" || tap_note "$(tail -20 err)"
		tap_ok "the weights are the same" cmp whole.bin got.bin
	done
	timeout 100 "$@" -n 4 "$QCNN" infer -q --transport=mpi --ranks=2 whole.bin >got.out 2>err </dev/null
	tap_same got.out whole.out "and so are the predictions of two groups"
	timeout 100 "$@" -n 2 "$QCNN" bench --transport=mpi --circuit=qcnn --qubits=12,13 --runs=2 --threads=1 --ranks=2 >out 2>err </dev/null
	tap_is "$? $(grep -c '^qcnn  *1[23] ' out)" "0 2" "two groups, one after the other" || tap_note "$(tail -20 err)"
	tap_has err "which hold each state together by MPI" "which rank 0 says"
	for n in 3 4; do
		timeout 100 "$@" -n $n "$top_builddir/tests/net/test_group_calls" mpi $n >out 2>err </dev/null
		tap_is $? 0 "calls of all sizes among $n ranks" || tap_note "$(tail -20 err)"
	done
	# How a rank sees the fault of another: what the launcher does after that is its affair, but for the status.
	for fault in "a rank is stopped in an exchange" "a rank aborts" "a rank leaves early" "a byte changes" "a rank with another key by MPI"; do
		rm -f end.*
		timeout 100 "$@" -n 4 "$top_builddir/tests/net/test_group_faults" mpi "$fault" >out 2>err </dev/null
		tap_is "$? $(cut -d: -f1 end.0)" "75 right" "$fault: $(cat end.0)" || tap_note "$(cat end.* err)"
		tap_is "$(cat end.[13] | grep -vc '^right')" 0 "others see the same" || tap_note "$(cat end.*)"
	done

	rm -f end.*
	timeout 100 "$@" -n 3 "$top_builddir/tests/net/test_group_faults" mpi "a rank is stopped in an exchange" : -n 1 sleep 100 >out 2>err </dev/null
	tap_ok "a process that takes no part in MPI" [ $? -ne 0 ]
	tap_ok "is waited for no longer than the deadline" sh -c "grep -q 'has not started within 3' end.*"

	# Both groups lose ranks: the launcher ends the others, and the last checkpoint is whole.
	rm -rf runs
	hold_options 40
	long="-q --transport=mpi $hold_options --set=log.checkpoint_steps=1 --set=data.rounds=1 --set=run.split=4 --set=run.threads=1"
	hold_training
	# MPICH's launcher, whose ranks are killed together, now and then waits for ever.
	timeout 250 "$@" -n 4 "$QCNN" train $long --ranks=2 -o got.bin split/config.yaml >out 2>err </dev/null &
	job=$!
	tap_until '[ "$(cat runs/cluster-*/metrics.jsonl | wc -l)" -gt 2 ] || ! kill -0 $job'
	last=$(ranks_of $job | tail -n 3)
	tap_ok "ranks of groups use MPI" grep -q 'qcnn-mpi-.*so' "/proc/$(echo $last | cut -d' ' -f1)/maps"
	kill -KILL $last
	wait $job
	tap_ok "the launcher reports that ranks are killed" [ $? -ne 0 ]
	release_training
	timeout 100 "$@" -n 4 "$QCNN" train $long --ranks=2 -o got.bin split/config.yaml >out 2>err </dev/null
	tap_is "$? $(ls -d runs/cluster-* | wc -l)" "0 1" "the same command resumes" || tap_note "$(tail -20 err)"
	[ -f long.bin ] || timeout 100 "$QCNN" train $(echo "$long" | sed 's/--transport=mpi//') --fresh -o long.bin split/config.yaml
	tap_ok "with the bits of an uninterrupted run" cmp long.bin got.bin

	# Nothing is started with a module of another build, or without one.
	LC_ALL=C sed 's/qcnn-mpi-build 0/qcnn-mpi-build 9/' "$QCNN" >"$other"
	chmod +x "$other"
	rm -rf runs
	by_two "$other" train $large --transport=mpi --set=run.split=4 --ranks=2 split/config.yaml
	tap_is "$statuses$(cat said.? | grep -c 'so is of another build .qcnn-mpi-build 0.* than this program .qcnn-mpi-build 9')" "76 76 1" "a module of another build is refused once" ||
		tap_note "$(cat said.?)"
	tap_ok "and no run begun" [ ! -e runs ]
	# PMIX_RANK tells no library.
	[ "$name" = MPICH ] && one="PMI_RANK=1 PMI_SIZE=2 MPI_LOCALNRANKS=" || one="OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_SIZE="
	[ "$name" = MPICH ] && library=mpich || library=openmpi
	for near in 1 2; do
		env PMIX_RANK=1 ${one}$near "$other" train $large --transport=mpi --set=run.split=4 --ranks=2 split/config.yaml >out 2>err </dev/null
		tap_is "$? $(grep -c "rank 1 of 2: .*qcnn-mpi-$library.so is of another build" err)" "76 $((2 - near))" "rank 1 says so where it may be alone with that: $near of 2 ranks on its host"
	done
	rm -f "$other"
	timeout 100 "$@" -n 2 "$QCNN" train --dry-run --transport=mpi $large --set=run.split=4 --ranks=2 split/config.yaml >out 2>err </dev/null
	tap_has out "messages  by MPI, not encrypted" "a dry run says how ranks communicate"
	tap_has out "goes on from the last checkpoint" "and what happens if one is lost"
	cp "$QCNN" elsewhere
	by_two ./elsewhere train $large --transport=mpi --set=run.split=4 --ranks=2 split/config.yaml
	tap_is "$statuses" "78 78 " "a program outside of the build looks at the installation alone"
	tap_is "$(cat said.? | grep -c '/qcnn-mpi-[a-z]*.so is missing')" 1 "and names the module" || tap_note "$(cat said.?)"
}

# The processes below that are qcnn, in the order in which they were started.
ranks_of() {
	for child in $(ps -o pid= --ppid "$1"); do
		[ "$(ps -o comm= -p "$child")" = qcnn ] && echo "$child"
		ranks_of "$child"
	done
}

# launcher NAME COMMAND...
launcher() {
	name=$1
	shift
	by=$*
	for n in 2 4; do
		rm -f got.bin
		timeout 100 "$@" -n $n "$QCNN" train config.yaml $few --fresh -o got.bin >out 2>err </dev/null
		tap_is $? 0 "$n processes by $name" || tap_note "$(tail -20 err)"
		tap_ok "the weights are the same" cmp want.bin got.bin
		tap_is "$(grep -c "$n processes that .* has started form one job" err)" 1 "rank 0 alone says so"
	done
	by_two "$QCNN" train config.yaml --set train.loss=none --fresh
	tap_is "$statuses" "78 78 " "a faulty configuration"
	tap_is "$(cat said.? | grep -c 'error.*train.loss')" 1 "is said once"
	MPIRUN="$*" timeout 100 sh mpi.sh 2 config.yaml $few --fresh -o got.bin >out 2>err </dev/null
	tap_is $? 0 "examples/batch/mpi.sh with $name"
	tap_ok "the weights are the same" cmp want.bin got.bin
	for n in 2 4; do
		rm -f got.bin
		timeout 100 "$@" -n 4 "$QCNN" train $large --set=run.split=4 --ranks=$n -o got.bin split/config.yaml >out 2>err </dev/null
		tap_is "$? $(cat out)" "0 " "4 processes by $name, of which $n hold a state together" || tap_note "$(tail -20 err)"
		tap_ok "the weights are the same" cmp whole.bin got.bin
	done
	rm -f got.bin
	MPIRUN="$*" RANKS=2 timeout 100 sh mpi-split.sh 4 $large --set=run.split=4 -o got.bin split/config.yaml >out 2>err </dev/null
	tap_is $? 0 "examples/batch/mpi-split.sh with $name" || tap_note "$(tail -20 err)"
	tap_ok "the weights are the same" cmp whole.bin got.bin
	timeout 100 "$@" -n 4 "$QCNN" infer -q --ranks=4 whole.bin >got.out 2>err </dev/null
	tap_same got.out whole.out "and so are the predictions"
}

# module FILE LAUNCHER...
module() {
	if [ -f "$top_builddir/$1" ]; then
		shift
		by_mpi "$@"
	else
		tap_skip "$1 is not built"
	fi
}
other=$top_builddir/tests/qcnn-other.$$
trap 'rm -f "$other"' EXIT
# MPI leaves memory behind.
[ -z "${QCNN_SANITIZED:-}" ] || export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

export QCNN
if command -v mpirun.openmpi >/dev/null; then
	root=
	[ "$(id -u)" != 0 ] || root=--allow-run-as-root
	launcher "Open MPI" mpirun.openmpi $root --oversubscribe
	module qcnn-mpi-openmpi.so "Open MPI" mpirun.openmpi $root --oversubscribe
else
	tap_skip "Open MPI is not installed"
fi
if command -v mpiexec.hydra >/dev/null; then
	launcher "MPICH" mpiexec.hydra
	module qcnn-mpi-mpich.so "MPICH" mpiexec.hydra
else
	tap_skip "MPICH is not installed"
fi

timeout 100 "$QCNN" train $large --transport=mpi --set=run.split=4 --ranks=2 split/config.yaml >out 2>err
tap_is "$? $(grep -c 'no MPI has started this process' err)" "78 1" "no MPI has started a process"
timeout 100 "$QCNN" train $large --transport=mpi --set=run.split=4 split/config.yaml >out 2>err
tap_is "$? $(grep -c 'give --ranks' err)" "2 1" "--transport=mpi without --ranks"
timeout 100 "$QCNN" train $large --transport=mpi --encrypt --set=run.split=4 --ranks=2 split/config.yaml >out 2>err
tap_is "$? $(grep -c 'MPI does not encrypt what it sends' err)" "2 1" "nor with encryption"
tap_done
