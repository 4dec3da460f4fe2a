#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The scripts of examples/batch for PBS and LSF, with what these put into the environment and commands that play theirs, on
# hosts by a real sshd: the job ends in time with 75, goes back to the queue, and the same job again has the uninterrupted run's bits.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/lab.sh"
. "$top_srcdir/tests/net/held_training.sh"

lab_open 2 || tap_skip_all "$lab_why"
cp "$top_srcdir"/examples/cluster/*.* "$top_srcdir"/examples/batch/*.sh .
hold_options 40
# The program with this test's options.
cat >program <<END
#!/bin/sh
exec "$QCNN" "\$@" --set log.report=false --set log.tensorboard=false --set run.threads=1 --set cluster.start_seconds=100 --no-progress $hold_options \$MORE
END
chmod +x program
QCNN=$PWD/program
export QCNN
release_training
MORE="--fresh -o want.bin --set log.dir=calm" "$QCNN" train config.yaml >out 2>err

# stops SCRIPT SYSTEM SIGNAL: the job that runs the script computes on its hosts, and ends with 75 after the signal.
stops() {
	rm -f err
	hold_training
	(lab_exec 0 sh "$1" >out 2>err) &
	job=$!
	tap_until 'grep -q "ready after" err'
	tap_has err "computing on the 2 hosts of this $2 job" "$1: the hosts of the job"
	kill -$3 $job
	release_training
	status=0
	wait $job || status=$?
	tap_is $status 75 "$1: stopped early, after $3"
}
goes_on() {
	tap_ok "$1: the job again" lab_on 0 sh "$1"
	tap_ok "the uninterrupted run's bits" cmp want.bin got.bin
}

# ---- PBS ----
printf '#!/bin/sh\necho "$1" >>reruns\n' >"$lab/bin/qrerun"
chmod +x "$lab/bin/qrerun"
printf 'h1\nh1\nh2\n' >nodes
export PBS_O_WORKDIR="$PWD" PBS_NODEFILE="$PWD/nodes" PBS_JOBID=7.server MORE="-o got.bin"
stops pbs.sh PBS TERM
tap_is "$(cat reruns 2>/dev/null)" 7.server "and put back into the queue"
tap_ok "the weights are not there yet" [ ! -e got.bin ]
goes_on pbs.sh
tap_is "$(cat reruns)" 7.server "it is not put back any more"
# The time is over, and PBS says nothing.
rm -rf got.bin reruns runs
hold_training
(QCNN_SECONDS=1 lab_exec 0 sh pbs.sh >out 2>err) &
job=$!
tap_until 'grep -q "stop" err'
release_training
status=0
wait $job || status=$?
tap_is $status 75 "pbs.sh: stopped before the time is over" || tap_note "$(tail -3 err)"
tap_is "$(cat reruns 2>/dev/null)" 7.server "and put back"
unset PBS_O_WORKDIR PBS_NODEFILE PBS_JOBID

# ---- LSF ----
# Names that LSF alone knows.
printf '#!/bin/sh\nhost=${1#lsf-}\nshift\nexec ssh "$host" "$@"\n' >"$lab/bin/blaunch"
chmod +x "$lab/bin/blaunch"
rm -rf got.bin runs
export LSB_MCPU_HOSTS="lsf-h1 8 lsf-h2 8"
# #BSUB -Q puts a job that ends so back.
stops lsf.sh LSF USR1
goes_on lsf.sh
tap_done
