# SPDX-License-Identifier: Apache-2.0
# States that processes of several hosts hold together, by TCP: the same bits, and what is lost. A program that plays ssh starts the
# processes of all hosts here.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/split_hosts.sh"

make_agent 'echo "login to $1" >&2
' ""

# ---- the same bits ----

train -o one.bin
for hosts in local,a local,a,b:2 a:3,localhost local,a:7; do
	case $hosts in
	local,a) n=2 ;;
	local,a:7) n=8 ;;
	*) n=4 ;;
	esac
	rm -f started
	# shellcheck disable=SC2086
	tap_exit 0 "$n ranks on $hosts" train $away --ranks=$n --hosts=$hosts -o many.bin
	cmp one.bin many.bin >cmp.out 2>&1
	tap_is $? 0 "give the weights of one process"
done
tap_is "$(sort started | uniq -c | tr -s ' \n' ' ')" " 7 a " "seven of the eight ranks were started on a"
# shellcheck disable=SC2086
tap_exit 0 "eight ranks on two hosts that are listed once" train $away --ranks=8 --hosts=local,a -o many.bin
cmp one.bin many.bin >cmp.out 2>&1
tap_is $? 0 "the weights of one process"
tap_is "$(sort started | uniq -c | tr -s ' \n' ' ')" " 11 a " "four of them on a"
# shellcheck disable=SC2086
tap_exit 0 "without encryption" train $away --encrypt=off --ranks=4 --hosts=local,a:3 -o many.bin
cmp one.bin many.bin >cmp.out 2>&1
tap_is $? 0 "the same weights"
tap_exit 0 "all of the listed hosts are this one" train --ranks=4 --hosts=local:2 -o many.bin
cmp one.bin many.bin >cmp.out 2>&1
tap_is $? 0 "the weights again"
# shellcheck disable=SC2086
tap_exit 2 "--port" train $away --port=29401 --ranks=2 --hosts=local,a -o many.bin
tap_has err "processes of other hosts connect to this one at free ports, not at --port (cluster.port): leave it out" "is not for ranks"
for host in local localhost; do
	tap_exit 0 "of this host alone: $host" train --dry-run --port=29401 --ranks=2 --hosts=$host:2
done
# shellcheck disable=SC2086
rm -f started
tap_exit 0 "a dry run" train --dry-run $away --ranks=4 --hosts=local,a:3
tap_is "$(grep -c a started)" 3 "is measured with the ranks"
tap_has out "a, 3 ranks: $PWD/agent a exec sh -c" "three ranks"
tap_has out "worker --follow" "by this command"
tap_has out "the training ends with what was saved before the step, and status 75" "and what happens if one is lost"
rm -f started
sed "\$a cluster: {hosts: [local, a], launcher: 'exec:$PWD/agent', iface: lo}" config.yaml >hosts.yaml
"$QCNN" train --dry-run --set=run.split=2 --ranks=2 hosts.yaml >out 2>err
tap_is "$? $([ -e started ] && echo started)" "0 " "hosts of a configuration are not logged in to for a dry run"

# shellcheck disable=SC2086
tap_exit 0 "an inference over two hosts" "$QCNN" infer -q $away --threads=1 --ranks=4 --hosts=local,a:3 one.bin
cp out four
"$QCNN" infer -q one.bin >out
tap_same four out "the predictions of one process"
tap_exit 0 "an inference by more ranks than the training allows" "$QCNN" infer --ranks=16 one.bin
tap_has err "the last digits may differ" "says so"
# shellcheck disable=SC2086
tap_exit 0 "a measurement over two hosts" "$QCNN" bench --circuit=qcnn --qubits=12 --runs=2 --gradient --threads=1 --ranks=4 --hosts=local,a:3 $away
tap_has out "qcnn gradient on 12 qubits" "is one of four ranks"
tap_is "$(grep -c workers out)" 0 "and of no workers"

# ---- what cannot be ----

rm -rf runs started
# shellcheck disable=SC2086
{
	tap_exit 2 "three processes for four ranks" train $away --ranks=4 --hosts=local,a:2
	tap_has err "4 ranks cannot be shared by the 3 processes of --hosts" "are not as many"
	tap_exit 69 "a host that cannot start it" train --launcher=exec:false --iface=lo --ranks=2 --hosts=local,a
	tap_has err "rank 1 on a ended before it was ready (exit status 1)" "is named"
	tap_exit 78 "no such interface" train $away --iface=qcnn0 --ranks=2 --hosts=local,a
	tap_has err 'no interface or address `qcnn0`' "is named, too"
	tap_exit 69 "a host whose address nobody knows" train --launcher="exec:$PWD/agent" --ranks=2 --hosts=local,no.host.invalid
	tap_has err "with --iface" "needs --iface"
}
printf '#!/bin/sh\nhead -c 512 >/dev/null\necho "no space for states" >&2\nexit 78\n' >other
chmod +x other
# shellcheck disable=SC2086
tap_exit 69 "a program that ends at once" train $away --remote-path="$PWD/other" --ranks=2 --hosts=local,a
tap_has err "no space for states" "its last words are shown"
printf '#!/bin/sh\necho "no more output" >&2\nexec sleep 1000 >&- <&-\n' >closed
chmod +x closed
tap_exit 69 "one that closes its input and output, and does not end" train --launcher="exec:$PWD/closed" --iface=lo --ranks=2 --hosts=local,a
tap_has err "rank 1 on a ended before it was ready (signal 9" "is ended"
printf '#!/bin/sh\nexec sleep 1000\n' >silent
chmod +x silent
# shellcheck disable=SC2086
tap_exit 69 "one that says nothing" train $away --remote-path="$PWD/silent" --start-seconds=1 --ranks=2 --hosts=local,a
tap_has err "rank 1 on a has not started within 1 s" "is not waited for"
tap_is "$(ls runs 2>/dev/null | wc -l)" 0 "nothing was trained"
head -c 512 /dev/zero | "$QCNN" worker --follow >out 2>err
tap_is $? 76 "a rank that another version starts ends"
tap_has err "install the same, or use --push" "and says what to do"

# ---- a rank that is lost ----

epochs() { cat runs/cluster-*/metrics.jsonl 2>/dev/null | wc -l; }
# more LEADER N: waits until more than N epochs are logged, or the training has ended.
more() { tap_until "[ \$(epochs) -gt $2 ] || [ -z \"\$(tap_left $1)\" ]"; }
# The process that computes: the last child, behind the agent and the process that guards it.
rank_of() {
	last=$1
	while child=$(pgrep -f 'worker --follow' -P "$last"); do
		last=$child
	done
	echo "$last"
}
long="--set=train.epochs=1000000 --set=train.restarts=1 --set=run.split=2 --set=run.threads=1 --ranks=2 --hosts=local,a $away"
for signal in KILL STOP; do
	rm -rf runs
	# shellcheck disable=SC2086
	"$QCNN" train -q $long config.yaml 2>lost.err &
	leader=$!
	more $leader 2
	kill -$signal "$(rank_of $leader)"
	wait $leader
	tap_is $? 75 "a training whose rank on another host gets $signal ends with 75"
	tap_has lost.err "rank 1" "and names the rank"
	tap_has lost.err "the same command resumes behind step" "and says how to go on"
done

# ---- a batch job ----

rm -rf runs started
mkdir bin
printf '#!/bin/sh\necho "$*" >>started\nwhile [ "$1" != sh ]; do shift; done\nexec "$@"\n' >bin/srun
printf '#!/bin/sh\necho "$*" >>asked\n' >bin/scontrol
chmod +x bin/srun bin/scontrol
# job OPTION...: the script on two nodes of Slurm, of which this is the first.
job() {
	PATH=$PWD/bin:$PATH QCNN=$QCNN SLURM_JOB_ID=7 SLURM_JOB_NODELIST='n[1-2]' SLURM_JOB_NUM_NODES=2 SLURMD_NODENAME=n1 \
		sh "$top_srcdir/examples/batch/slurm-split.sh" -q --iface=lo --set=train.restarts=1 --set=data.rounds=1 --set=run.threads=1 "$@" config.yaml
}
tap_is "$(grep -c '^#SBATCH --nodes=8$' "$top_srcdir/examples/batch/slurm-split.sh")" 1 "the script asks for eight nodes"
tap_exit 0 "18 qubits on two nodes" job --set train.epochs=1 --set=train.batch_size=2 --const=n=18 -o job.bin
tap_is "$(wc -l <started) $(grep -c 'nodelist=n2' started)" "1 1" "the second rank is started on the second node"
"$QCNN" train -q --fresh --set=train.restarts=1 --set=data.rounds=1 --set=run.split=2 --set=train.epochs=1 --set=train.batch_size=2 --const=n=18 -o whole.bin config.yaml
cmp job.bin whole.bin >cmp.out 2>&1
tap_is $? 0 "the weights of one process"
rm -rf runs
job --set=train.epochs=1000000 2>job.err &
script=$!
tap_until '[ "$(epochs)" -gt 2 ]'
kill -USR1 "$(pgrep -P $script -f slurm-split.sh)"
wait $script
tap_is "$? $(cat asked)" "75 requeue 7" "before its time is over the job is saved, and put back"
tap_done
