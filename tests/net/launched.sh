# SPDX-License-Identifier: Apache-2.0
# The processes of one job as mpirun and the like start them, for test_attached.sh and test_attached_ranks.sh.

# launch PREFIX ENVIRONMENT N COMMAND...: runs it N times, with the environment that `ENVIRONMENT RANK N` prints; leaves
# PREFIXRANK.out and .err, and in $pids what was started.
launch() {
	launch_prefix=$1 launch_environment=$2 launch_n=$3
	shift 3
	pids=
	for rank in $(seq 0 $((launch_n - 1))); do
		env $($launch_environment $rank $launch_n) "$@" >$launch_prefix$rank.out 2>$launch_prefix$rank.err </dev/null &
		pids="$pids $!"
	done
}
# end_ranks: waits for them; their statuses in order in $statuses.
end_ranks() {
	statuses=
	for p in $pids; do
		s=0
		wait $p || s=$?
		statuses="$statuses $s"
	done
}
# By the test's start_ranks, which calls launch.
ranks() { start_ranks "$@"; end_ranks; }
