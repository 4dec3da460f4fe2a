# SPDX-License-Identifier: Apache-2.0
# The keys of a configuration that say which hosts compute, and how workers are started there.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
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
got=0
train got.bin --set cluster.hostfile=absent || got=$?
tap_is $got 66 "cluster.hostfile: no such file"
tap_done
