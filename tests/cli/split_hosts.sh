# SPDX-License-Identifier: Apache-2.0
# Trainings whose states processes of several hosts hold, for test_split_groups.sh and test_split_hosts.sh: goes to a folder of its own.

cp -r "$top_srcdir/examples/cluster" .
cd cluster || exit 1
QCNN=$(cd "$(dirname "$QCNN")" && pwd)/qcnn

# make_agent BEFORE AFTER: the program `agent`, which plays ssh and starts the processes of all hosts here.
make_agent() {
	printf '#!/bin/sh\necho "$1" >>started\n%sshift\n%ssh -c "$*"\n' "$1" "$2" >agent
	chmod +x agent
}
away="--launcher=exec:$PWD/agent --iface=lo"

# train OPTION...: one that ends soon.
train_aloud() { "$QCNN" train --no-progress --fresh --set=train.epochs=2 --set=train.restarts=2 --set=data.rounds=1 --set=run.split=8 --set=run.threads=1 "$@" config.yaml; }
train() { train_aloud -q "$@"; }
