# SPDX-License-Identifier: Apache-2.0
# The keys of a configuration that say which hosts compute, and how workers are started there.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
. "$top_srcdir/tests/net/ports.sh"
make_files

# An agent as ssh is one: host, then the command as one word; it notes whom it was asked for.
printf '#!/bin/sh\nhost=$1\nshift\necho "$host" >>asked\nexec sh -c "$*"\n' >agent
chmod +x agent
printf '# ours\nlocal slots=2\n' >here
printf 'first\nsecond slots=1\n' >there

train() {
	out=$1
	shift
	"$QCNN" train -q --fresh --set run.threads=1 --set log.report=false -o "$out" "$@" config.yaml >out 2>err
}
tap_ok "without other hosts" train want.bin
tap_ok "cluster.hostfile" train got.bin --set cluster.hostfile=here
tap_same got.bin want.bin "the same weights"
tap_ok "cluster.launcher, cluster.remote_path, cluster.iface" train got.bin --set cluster.hostfile=there \
	--set cluster.launcher="exec:$PWD/agent" --set cluster.remote_path="$QCNN" --set cluster.iface=127.0.0.1
tap_same got.bin want.bin "the same weights"
tap_is "$(sort asked | tr '\n' ' ')" "first second " "the agent was asked for both"
# The loopback interface by its name, as Linux and others call it.
if [ -d /sys/class/net/lo ]; then
	tap_ok "cluster.iface: the name of an interface" train got.bin --set cluster.hostfile=there \
		--set cluster.launcher="exec:$PWD/agent" --set cluster.remote_path="$QCNN" --set cluster.iface=lo
else
	tap_skip "there is no interface lo"
fi
# The agents are started before anybody listens, and wait for that.
take_ports || tap_note "no ports are free"
printf '#!/bin/sh\nshift\nuntil grep -q "$(cat listener) 00000000:0000 0A" /proc/net/tcp; do kill -0 $PPID || exit 1; sleep 0.02; done
echo seen >>listening\nexec sh -c "$*"\n' >looker
chmod +x looker
if [ -r /proc/net/tcp ]; then
	for how in "--set cluster.port=" "--port="; do
		port=$((port + 1))
		printf ':%04X\n' $port >listener
		rm -f listening
		tap_ok "$how$port" train got.bin --set cluster.hostfile=there --launcher="exec:$PWD/looker" --iface=127.0.0.1 --transport=tcp $how$port
		tap_is "$(cat listening)" "seen
seen" "is the port that workers connect to"
	done
	tap_same got.bin want.bin "the same weights"
else
	tap_skip "there is no /proc/net/tcp"
fi
# Two hosts, the second of which has less.
printf '#!/bin/sh\nhost=$1\nshift\n[ "$host" = second ] && exec "$QCNN" worker --isa baseline\nexec sh -c "$*"\n' >unlike
chmod +x unlike
unlike="--set run.isa=auto --set cluster.hostfile=there --set cluster.launcher=exec:$PWD/unlike --set cluster.iface=127.0.0.1"
tap_ok "without other hosts, by the least instruction set" train want.bin --set run.isa=baseline
if [ "$("$QCNN" info | grep -c '^kernels *avx')" -gt 0 ]; then
	tap_ok "hosts that differ" "$QCNN" train --fresh --no-progress --set run.threads=1 --set log.report=false -o got.bin $unlike config.yaml
	tap_has tap.out "all workers use baseline, the best that second[1] has" "agree on what all have, and say so"
	tap_same got.bin want.bin "the same weights"
	tap_ok "a circuit, too" "$QCNN" run -q --emit=readouts --hosts=first,second --launcher="exec:$PWD/unlike" --iface=127.0.0.1 \
		--data=new.csv two.qcnn
	for wish in "--set cluster.isa=same" --hosts-isa=same "--set run.isa=avx2"; do
		got=0
		train got.bin $unlike $wish || got=$?
		tap_is $got 76 "$wish: an error"
		tap_has err "second[1] has no avx" "that names the host"
	done
else
	tap_skip "this processor has one instruction set"
fi
# What a shell there, its loader or the worker say last decides what is advised; csh reads the command as sh does.
advice() {
	printf '%s\n' "$1" >last_words
	printf '#!/bin/sh\necho "a greeting"\ncat last_words >&2\nexit %s\n' "$2" >unable
	chmod +x unable
	train got.bin --set cluster.hostfile=there --set cluster.launcher="exec:$PWD/unable" --set cluster.iface=127.0.0.1
	tap_has err "$3" "$1"
}
advice "sh: 1: qcnn: not found" 127 "(--remote-path gives the path of qcnn there, --push sends this one)"
advice "sh: 1: /opt/qcnn: Permission denied" 126 "(the file exists, but is not executable)"
advice "qcnn: error while loading shared libraries: libsodium.so.23: cannot open shared object file" 127 "(install that library there"
advice "qcnn: /lib/libc.so.6: version \`GLIBC_2.38' not found" 1 "(its C library is older"
advice "sh: 1: qcnn: Exec format error" 126 "(it is of another architecture"
advice "qcnn worker: error: cannot connect to the coordinator at 192.0.2.1:4711: Connection timed out" 69 "(a firewall blocks its connection to this machine"
printf '#!/bin/sh\necho "a line that is longer than the next" >&2\necho "a short line" >&2\nexit 1\n' >unable
train got.bin --set cluster.hostfile=there --set cluster.launcher="exec:$PWD/unable" --set cluster.iface=127.0.0.1
tap_ok "a line is shown without the end of the line before" grep -q 'a short line$' err
if command -v csh >/dev/null; then
	printf '#!/bin/sh\nshift\nexec csh -c "$*"\n' >csh-agent
	chmod +x csh-agent
	tap_ok "by csh" train got.bin --set cluster.hostfile=there --set cluster.launcher="exec:$PWD/csh-agent" --set cluster.iface=127.0.0.1
	tap_same got.bin want.bin "the same weights"
else
	tap_skip "csh is not installed"
fi
got=0
train got.bin --set cluster.hostfile=absent || got=$?
tap_is $got 66 "cluster.hostfile: no such file"
printf '#!/bin/sh\nexec sleep 100\n' >sleeper
chmod +x sleeper
got=0
train got.bin --set cluster.hostfile=there --set cluster.launcher="exec:$PWD/sleeper" --set cluster.iface=127.0.0.1 --set cluster.start_seconds=1 || got=$?
tap_is $got 69 "cluster.start_seconds: hosts that do not come"
tap_has err "first[0]: it has not come within 1 s (--start-seconds gives more)" "the first of them is named"
got=0
train got.bin --set cluster.hostfile=there --launcher "exec:$PWD/sleeper" --iface=127.0.0.1 --start-seconds=2 || got=$?
tap_is $got 69 "--start-seconds"
tap_has err "first[0]: it has not come within 2 s" "counts"
# Bytes that come to the worker: with the samples each time, or once.
for how in off data; do
	"$QCNN" train --fresh --set run.threads=1 --set log.report=false --set train.epochs=20 -o got.bin --no-progress --verbose --shard=$how --hosts=local config.yaml >out 2>err
	sed -n 's/.*got \([0-9.]*\) MB.*/\1/p' err >got.$how
done
tap_ok "--shard: $(cat got.off) MB come off, $(cat got.data) with data" awk -v off="$(cat got.off)" -v data="$(cat got.data)" 'BEGIN { exit !(off > 1.2 * data && data > 0) }'
tap_done
