#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Processes that others have started together do one job: what mpirun and the like put into the environment is put
# there by this test.  The same bits as one process; only rank 0 prints and writes; none is left, however it ends.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/launched.sh"
. "$top_srcdir/tests/net/ports.sh"

cp "$top_srcdir"/examples/cluster-hybrid/* .
"$QCNN" worker --new-key key
take_ports || tap_note "no ports are free"
few="--set log.report=false --set log.tensorboard=false --no-progress --set train.restarts=1"

# start_ranks N NAME COMMAND...: leaves NAME.RANK.out and .err.
start_ranks() {
	n=$1 name=$2
	shift 2
	launch $name. environment $n "$@"
}

timeout 100 "$QCNN" train config.yaml $few --set train.epochs=2 --fresh -o want.bin >out 2>err || tap_note "$(cat err)"

for mode in "Open MPI" mpiexec srun torchrun Kubernetes TF_CONFIG; do
	more=
	case $mode in
	"Open MPI") environment() { echo OMPI_COMM_WORLD_RANK=$1 OMPI_COMM_WORLD_SIZE=$2 OMPI_COMM_WORLD_LOCAL_SIZE=$2 PMIX_NAMESPACE=$$; } ;;
	mpiexec) environment() { echo PMI_RANK=$1 PMI_SIZE=$2; } ;;
	srun) environment() { echo SLURM_PROCID=$1 SLURM_STEP_NUM_TASKS=$2 SLURM_STEP_ID=0 SLURM_JOB_ID=$$ SLURM_JOB_NODELIST='n[1-3]'; } ;;
	torchrun) environment() { echo RANK=$1 WORLD_SIZE=$2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port; } ;;
	Kubernetes)
		environment() { echo JOB_COMPLETION_INDEX=$1 WORLD_SIZE=$2 MASTER_ADDR=localhost MASTER_PORT=$port; }
		more="--key-file key" ;;
	TF_CONFIG)
		environment() {
			type=worker index=$(($1 - 1))
			[ $1 != 0 ] || { type=chief index=0; }
			echo "TF_CONFIG={\"cluster\":{\"chief\":[\"127.0.0.1:$port\"],\"worker\":[\"b:1\",\"c:1\"]},\"task\":{\"type\":\"$type\",\"index\":$index}}"
		} ;;
	esac
	port=$((port + 1))
	rm -rf got.bin runs
	ranks 3 one timeout 100 "$QCNN" train config.yaml $few --set train.epochs=2 --fresh $more -o got.bin
	tap_is "$statuses" " 0 0 0" "three processes as of $mode" || tap_note "$(cat one.?.err)"
	tap_ok "the weights are the same" cmp want.bin got.bin
	tap_has one.0.err "3 processes that $mode has started form one job" "rank 0 says how it was started"
	tap_is "$(cat one.[12].out one.[12].err)" "" "the others say nothing"
	tap_is "$(ls -A runs | wc -l)" 2 "one folder was written, and no file for meeting is left"
done

environment() { echo PMI_RANK=$1 PMI_SIZE=$2 MPI_LOCALNRANKS=$2; }
ranks 2 off "$QCNN" train config.yaml $few --set train.epochs=1 --fresh --attach=off
tap_is "$statuses $(ls -d runs/hybrid-* | wc -l)" " 0 0 3" "--attach=off makes each a job of its own"
"$QCNN" infer --json --split=train want.bin >want.json
ranks 3 infer timeout 100 "$QCNN" infer --json --split=train want.bin
tap_same infer.0.out want.json "infer prints the same"
tap_is "$statuses$(cat infer.1.out infer.2.out)" " 0 0 0" "once"
ranks 2 dry timeout 100 "$QCNN" train config.yaml --dry-run --json
tap_has dry.0.out '"mode": "mpiexec"' "a dry run tells the mode"
tap_has dry.0.out '"why": "PMI_RANK is 0, PMI_SIZE is 2"' "and why"

ranks 3 bench timeout 100 "$QCNN" bench --circuit qcnn --qubits 4,6 --gradient --batch 16,64 --runs 2
tap_is "$statuses $(grep -c '^qcnn gradient .* 3 x [0-9]' bench.0.out)$(cat bench.[12].out bench.[12].err)" " 0 0 0 4" \
	"bench measures all its cases with the same three workers" || tap_note "$(cat bench.?.err)"
ranks 2 show "$QCNN" bench --circuit qcnn --qubits 4 --show
tap_is "$statuses" " 0 0" "what bench shows needs no workers"

# ---- what people copy ----
for script in "$top_srcdir"/examples/batch/*.sh; do tap_ok "a shell reads $(basename $script)" sh -n "$script"; done
mkdir played
printf '#!/bin/sh\necho "${SRUN_CPUS_PER_TASK-none}"\n' >played/srun
chmod +x played/srun
for script in slurm slurm-gpu slurm-seeds; do
	cores() { env -u SRUN_CPUS_PER_TASK "$@" PATH="$PWD/played:$PATH" sh "$top_srcdir/examples/batch/$script.sh" config.yaml; }
	tap_is "$(cores SLURM_CPUS_PER_TASK=6) $(cores -u SLURM_CPUS_PER_TASK)" "6 none" "$script.sh has the cores of its job"
done
job=$top_srcdir/examples/kubernetes/train.yaml
tap_is "$(awk '/completions:|parallelism:/ { print $2 } /name: WORLD_SIZE/ { getline; gsub("\"", ""); print $2 }' "$job" | sort -u)" 4 "the manifest has one number of pods"
tap_is "$(awk '/[pP]ort: [0-9]/ { print $NF }' "$job" | sort -u)" 29500 "and the port at which they meet"

# ---- what cannot be ----
PMI_RANK=0 PMI_SIZE=2 "$QCNN" train config.yaml $few --fresh --wait 1 >out 2>err
tap_is $? 69 "rank 1 does not come"
tap_has err "rank 1 has not come within 1 s" "it is named"
PMI_RANK=1 PMI_SIZE=2 "$QCNN" train config.yaml $few --fresh --set cluster.wait=1 >out 2>err
tap_is $? 69 "rank 0 does not come"
tap_has err "rank 1 of 2: rank 0 has not written runs/.qcnn-rendezvous" "it says what it has waited for"
PMI_RANK=1 PMI_SIZE=2 "$QCNN" train config.yaml $few --fresh --wait 100 >other.out 2>other.err &
other=$!
PMI_RANK=0 PMI_SIZE=2 "$QCNN" train config.yaml $few --fresh --wait 100 --set run.seed=8 >out 2>err
tap_is $? 78 "other words on another rank"
tap_has err "rank 1: it was started with other arguments than rank 0" "it is said"
wait $other
tap_is "$?$(cat other.err)" 78 "by rank 0 alone"
chmod 644 key
PMI_RANK=0 PMI_SIZE=2 tap_exit 77 "a key that others may read" "$QCNN" train config.yaml $few --key-file key
echo "a passphrase of more than sixteen bytes" >words
chmod 600 words
PMI_RANK=0 PMI_SIZE=2 tap_exit 77 "a passphrase instead of a key" "$QCNN" train config.yaml $few --key-file words
tap_has err "\`qcnn worker --new-key FILE\` makes one" "it says what makes a key"
PMI_RANK=0 PMI_SIZE=2 tap_exit 66 "no such key" "$QCNN" train config.yaml $few --key-file nowhere
PMI_RANK=0 PMI_SIZE=2 tap_exit 77 "the same by a key of the configuration" "$QCNN" train config.yaml $few --set cluster.key_file=key
PMI_RANK=2 PMI_SIZE=2 tap_exit 78 "a rank that cannot be" "$QCNN" train config.yaml $few
tap_has err 'PMI_RANK is `2`, not a number from 0 to 1' "it is named"
chmod 600 key
environment() { echo RANK=$1 WORLD_SIZE=$2 MASTER_ADDR=192.0.2.77 MASTER_PORT=$port; }
env $(environment 0 2) "$QCNN" train config.yaml $few --key-file key >out 2>err
tap_is $? 78 "an address that this machine does not have"
tap_has err "rank 0 cannot listen at 192.0.2.77, port $port, to which the others connect" "it is named"
# Another key: nobody says anything, and time passes.
environment() { echo RANK=$1 WORLD_SIZE=$2 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port; }
"$QCNN" worker --new-key wrong
again="$few --set train.epochs=1 --fresh"
env $(environment 0 2) "$QCNN" train config.yaml $again --key-file key >out 2>err &
first=$!
tap_until "grep -q ':$(printf %04X $port) [0-9A-F:]* 0A ' /proc/net/tcp"      # it listens
env $(environment 1 2) "$QCNN" train config.yaml $again --key-file wrong --wait 1 >other.out 2>other.err
tap_is $? 77 "a rank with another key does not get in, and knows why"
tap_has other.err "did not accept this worker's proof of the job's key" "it says so"
tap_is "$(grep -c 'ready after' err)" 0 "rank 0 waits on"
env $(environment 1 2) "$QCNN" train config.yaml $again --key-file key >other.out 2>other.err
tap_is "$?$(cat other.out other.err)" 0 "for one with the key"
wait $first
tap_is $? 0 "with which it does the job"

# ---- ends ----
environment() { echo PMI_RANK=$1 PMI_SIZE=$2; }
long="$few --set train.epochs=1000000 --set log.dir=$PWD/long"
epochs() { cat long/*/metrics.jsonl 2>/dev/null | wc -l; }
# begin NAME OPTIONS...: a training of three ranks, which has ended an epoch.
begin() {
	name=$1 had=$(epochs)
	shift
	start_ranks 3 $name "$QCNN" train config.yaml $long "$@"
	tap_until '[ $(epochs) -gt $had ]'
}
begin kill --fresh
kill -9 $(echo $pids | cut -d' ' -f1)
tap_ok "when rank 0 is killed the others go" tap_gone $pids
end_ranks
tap_is "$statuses" " 137 75 75" "with 75"
# unread PID: how many of its connections have bytes that it has not read; rank 0 has one to each worker, of which it has started one.
unread() {
	ls -l /proc/$1/fd | sed -n 's/.*socket:\[\([0-9]*\)\]/\1/p' >sockets
	awk 'NR == FNR { own[$1]; next } $4 == "01" && $10 in own && $5 !~ /:00000000$/ { n++ } END { print n + 0 }' sockets /proc/$1/net/tcp
}
# The same where rank 0 has left signs of life unread, which makes the system break the connections off.
begin broken --fresh
kill -STOP $(echo $pids | cut -d' ' -f1)
tap_until '[ $(unread $(echo $pids | cut -d" " -f1)) = 3 ]'
kill -9 $(echo $pids | cut -d' ' -f1)
tap_ok "when its connections break the others go" tap_gone $pids
end_ranks
tap_is "$statuses" " 137 75 75" "with 75 too"

# All get the signal, as batch systems send it; what they have done is saved, and the same command goes on.
begin stop
kill -TERM $pids
end_ranks
tap_is "$statuses" " 75 75 75" "TERM for all: rank 0 saves, and all end with 75"
tap_has stop.0.err "same command" "it says how to go on"

# Rank 0 ends behind those that it tells to end: here rank 1 sleeps when the last word comes.
start_ranks 2 last "$QCNN" train config.yaml $few --set train.epochs=2 --fresh --set "train.callbacks=[{command: {run: 'until [ -s pid ]; do sleep 0.02; done; kill -STOP \$(cat pid)', on: end}}]"
first=${pids% *}
echo ${pids##* } >pid
tap_until 'ps -o stat= -p $(cat pid) | grep -q T'
sleep 1
tap_ok "rank 0 waits until its last word was heard" sh -c "ps -o stat= -p $first | grep -qv Z"
kill -CONT $(cat pid)
end_ranks
tap_is "$statuses" " 0 0" "both end well" || tap_note "$(cat last.?.err)"

# A rank that is killed does not end the others, and is taken back, as a pod that is started again is.
begin lose --fresh
kill -9 $(echo $pids | cut -d' ' -f3)
env $(environment 2 3) "$QCNN" train config.yaml $long --fresh >again.out 2>again.err &
again=$!
tap_until "grep -q 'has been restarted' lose.0.err"
kill -INT $(echo $pids | cut -d' ' -f1)
end_ranks
tap_is "$statuses" " 75 75 137" "a rank that is killed does not end the others"
tap_ok "its loss is said, with its host" grep -q "\[2\] is lost: .*; it may come again" lose.0.err
tap_ok "started again it takes part" grep -q "\[2\] has been restarted" lose.0.err
wait $again
tap_is "$?$(cat again.out again.err)" 75 "and ends with the others"
tap_done
