#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Hosts that cannot be reached when a job begins: it begins without them, names each with the cause, and takes them when they come.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/cli/resume.sh"
make_files
make_learner
make_gate
cat >agent <<'PROGRAM'
#!/bin/sh
case $1 in
refused*) [ -e up ] || { echo "ssh: connect to host $1 port 22: Connection refused" >&2; exit 255; } ;;
silent) exec sleep 1000 ;;
other) exit 76 ;;
esac
shift
exec sh -c "$*"
PROGRAM
chmod +x agent
away="--launcher exec:$PWD/agent --iface=lo"
gate="--set=train.callbacks.command={run: [./gate], on: epoch}"
train() { "$QCNN" train --no-progress --fresh --set=train.epochs=12 "$@" config.yaml; }
: >open
tap_exit 0 "on this machine" train -o want.bin "$gate"
rm open

train $away "$gate" --hosts a,refused,b -o got.bin >out 2>err &
pid=$!
tap_until 'grep -q "refused.1. is lost" err || ! kill -0 $pid'
tap_has err "warning: the others compute without 1 worker of refused, which may join later: its launcher ended with exit status 255; \
its last output: ssh: connect to host refused port 22: Connection refused" "a host that is missing is named, with the cause"
tap_has err "2 of 3 workers, ready after" "the others begin"
tap_has err "refused[1] is lost: its launcher ended with exit status 255" "it is tried again"
: >up
tap_until 'grep -q "refused.1. has joined" err || ! kill -0 $pid'
tap_has err "refused[1] has joined" "when it can be reached, it joins"
: >open
wait $pid
tap_is $? 0 "the training ends well"
tap_ok "with the bits of one process" cmp want.bin got.bin
tap_is "$(grep -c 'compute without' err)" 1 "the warning is printed once"
tap_has runs/latest/run.json '"name": "refused[1]"' "the record has it"
rm up

tap_exit 0 "a host with several workers, and one that never answers" train $away --hosts refused:3,silent,a --start-seconds=1 \
	--replacements=0 -o got.bin
tap_has err "without 3 workers of refused, which will not be started again:" "they are named once"
tap_has err "without 1 worker of silent, which will not be started again: it has not come within 1 s (--start-seconds gives more)" "so is it"
tap_has err "1 of 5 workers" "one remains"
tap_ok "with the bits of one process" cmp want.bin got.bin

tap_exit 69 "no host at all" train $away --hosts refused,refused2
tap_has err "error: refused[0]: its launcher ended with exit status 255; its last output: ssh: connect to host refused" "why the first is missing"
for k in 2 3; do
	case $k in 2) status=0 ;; *) status=69 ;; esac
	tap_exit $status "--min-workers $k of 2 that come" train $away --hosts a,refused,b --min-workers $k
done
tap_has err "error: 2 of 3 workers are ready, and --min-workers is 3: refused[1]: its launcher ended with exit status 255" "what is missing"
tap_exit 69 "as a key" train $away --hosts a,refused,b --set cluster.min_workers=3
tap_exit 69 "more than there are" train $away --hosts a --min-workers 2
tap_has err "there are 1 workers, and --min-workers is 2" "is said"
tap_exit 76 "a host with another program is no host that is missing" train $away --hosts a,other,b
tap_has err "other[1]" "it is named"

# Commands that compute once; and those that test or measure hosts, for which all count.
tap_exit 0 "infer" "$QCNN" infer $away --hosts a,refused runs/latest
tap_has err "without 1 worker of refused" "goes on"
tap_exit 0 "run" "$QCNN" run $away --hosts a,refused --data new.csv two.qcnn
tap_has err "without 1 worker of refused" "goes on"
tap_exit 69 "a dry run" train $away --hosts a,refused --dry-run
tap_exit 0 "with the option" train $away --hosts a,refused --dry-run --min-workers 1
tap_exit 69 "bench" "$QCNN" bench --qubits 4 --runs 1 $away --hosts a,refused
tap_exit 69 "ranks" train $away --hosts local,refused --ranks 2 --set run.split=2

# By ssh.
if . "$top_srcdir/tests/net/lab.sh" && lab_open 2 && [ $lab_kind = net ]; then
	printf 'Host h3\n\tHostName %s\n\tPort 23\n' "$(lab_address 1)" | cat - "$lab/ssh_config" >ssh_config
	cp ssh_config "$lab/ssh_config"
	lab_link 2 down
	lab_on 0 timeout 60 "$QCNN" train --no-progress --fresh --set=train.epochs=12 --hosts h1,h2,h3,nowhere.invalid -o got.bin config.yaml >out 2>err
	tap_is $? 0 "by ssh: a host that is cut off, one without sshd, one that nobody knows"
	for host in h2 h3 nowhere.invalid; do
		tap_ok "$host is named" grep -q "without 1 worker of $host, .*: its ssh ended with exit status 255; its last output: ssh: " err
	done
	tap_ok "with the bits of one process" cmp want.bin got.bin
else
	tap_skip "by ssh: $lab_why"
fi
tap_done
