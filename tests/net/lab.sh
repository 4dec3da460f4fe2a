# SPDX-License-Identifier: Apache-2.0
# Hosts for the tests, on one machine: network namespaces 0 (the coordinator's) to N, a veth pair from 0 to each, and a real
# sshd in each but 0. Without the right to make them: one sshd on the loopback interface, that all names lead to.
# Usage: source tap.sh and this, `lab_open N`; then `ssh hK` works, and so does `qcnn train --hosts hK` behind lab_on 0.
# lab_unshare="--net --mount" gives each a view of the files, too, which lab_at K changes.
# Everything ends with the test: by its trap, and by a leash (file descriptor 9) when it is killed.

. "$top_srcdir/tests/net/ports.sh"
lab_why=

# lab_config NAME ADDRESS PORT [yes: passwords alone]: SHLVL keeps bash from the user's .bashrc, which may take its time.
lab_config() {
	cat >"$lab/sshd_config.$1" <<-END
	Port $3
	ListenAddress $2
	HostKey $lab/host_key
	PidFile none
	AuthorizedKeysFile $lab/authorized_keys
	StrictModes no
	PasswordAuthentication ${4:-no}
	KbdInteractiveAuthentication ${4:-no}
	PubkeyAuthentication $([ "${4:-no}" = yes ] && echo no || echo yes)
	UsePAM no
	PermitRootLogin yes
	SetEnv SHLVL=2
	${lab_sshd_extra:-}
	END
}

# A process that holds a namespace, and sshd in it, until the leash ends.
lab_hold() {
	lab_how=$1
	shift
	$lab_how sh -c 'echo $$ >"$0.pid"; '"$*"' read end; kill $! 2>/dev/null' "$lab/host.$lab_k" <"$lab/leash" >"$lab/hold.$lab_k" 2>&1 9>&- &
	lab_holders="$lab_holders $!"
	tap_until '[ -s "$lab/host.$lab_k.pid" ]'
}

lab_on() {
	lab_k=$1
	shift
	case $lab_kind in
	net) nsenter --net="/proc/$(cat "$lab/host.$lab_k.pid")/ns/net" "$@" 9>&- ;;
	*) "$@" 9>&- ;;
	esac
}
# Where the files of host K are what it sees (lab_unshare).
lab_at() {
	lab_k=$1
	shift
	nsenter --net="/proc/$(cat "$lab/host.$lab_k.pid")/ns/net" --mount="/proc/$(cat "$lab/host.$lab_k.pid")/ns/mnt" "$@" 9>&-
}
# The same in place of a shell: for use in the background, where $! is then the command's.
lab_exec() {
	lab_k=$1
	shift
	case $lab_kind in
	net) exec nsenter --net="/proc/$(cat "$lab/host.$lab_k.pid")/ns/net" "$@" 9>&- ;;
	*) exec "$@" 9>&- ;;
	esac
}

lab_ssh_config() {
	printf 'Host *\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tStrictHostKeyChecking no\n\tLogLevel ERROR\n' \
		"$(id -un)" "$lab/user_key" "$lab/known_hosts" >"$lab/ssh_config.all"
	for lab_k in $(seq $lab_n); do
		printf 'Host h%d\n\tHostName %s\n\tPort %d\n' $lab_k "$(lab_address $lab_k)" "$lab_port"
	done >"$lab/ssh_config"
	cat "$lab/ssh_config.all" >>"$lab/ssh_config"
	mkdir -p "$lab/bin"
	printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$lab/ssh_config" >"$lab/bin/ssh"
	chmod +x "$lab/bin/ssh"
	PATH=$lab/bin:$PATH
	export PATH
}
lab_address() { [ $lab_kind = net ] && echo 10.77.$1.2 || echo 127.0.0.1; }

lab_open_net() {
	lab_kind=net
	lab_port=22
	lab_k=0
	lab_hold "unshare ${lab_unshare:---net}" "ip link set lo up; sleep 0 &" || return 1
	for lab_k in $(seq $lab_n); do
		lab_config $lab_k "$(lab_address $lab_k)" 22
		lab_hold "unshare ${lab_unshare:---net}" "ip link set lo up; for i in \$(seq 5000); do ip -o addr show dev up 2>/dev/null | grep -q 10.77 && break; sleep 0.02; done; '$lab_sshd' -D -e -f $lab/sshd_config.$lab_k &" || return 1
		ip link add name h$lab_k netns "$(cat "$lab/host.0.pid")" type veth peer name up netns "$(cat "$lab/host.$lab_k.pid")" || return 1
		lab_h=$lab_k
		lab_on 0 sh -c "ip addr add 10.77.$lab_h.1/24 dev h$lab_h && ip link set h$lab_h up" || return 1
		lab_on $lab_h sh -c "ip link set up name up 2>/dev/null; ip addr add 10.77.$lab_h.2/24 dev up && ip link set dev up up" || return 1
	done
}

lab_open_loopback() {
	lab_kind=loopback
	lab_k=1
	take_ports || return 1
	lab_port=$port
	lab_config 1 127.0.0.1 $lab_port
	"$lab_sshd" -D -e -f "$lab/sshd_config.1" >"$lab/hold.1" 2>&1 9>&- &
	lab_holders=$!
	tap_until 'grep -q "Server listening" "$lab/hold.1" || ! kill -0 $lab_holders'
	grep -q 'Server listening' "$lab/hold.1"
}

# lab_open N: leaves lab_kind (net, loopback) and lab_why (why it is not net); 1 where not even sshd starts.
lab_open() {
	lab_n=$1
	lab=$PWD/lab
	lab_holders=
	mkdir -p "$lab"
	trap lab_close EXIT
	trap 'exit 1' TERM INT HUP
	lab_sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd) && command -v ssh >/dev/null || { lab_why="sshd is not installed"; return 1; }
	[ "$(id -u)" != 0 ] || [ -d /run/sshd ] || mkdir -p /run/sshd 2>/dev/null || { lab_why="sshd needs /run/sshd"; return 1; }
	ssh-keygen -q -t ed25519 -N '' -f "$lab/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$lab/user_key" || { lab_why="ssh-keygen does not work"; return 1; }
	cp "$lab/user_key.pub" "$lab/authorized_keys"
	chmod 600 "$lab/authorized_keys"
	mkfifo "$lab/leash"
	exec 9<>"$lab/leash"
	if ! unshare --net ip link add name probe type veth 2>/dev/null || ! command -v nsenter >/dev/null; then
		lab_why="no network namespaces of one's own"
		lab_open_loopback || { lab_why="sshd does not start"; return 1; }
	else
		lab_open_net || { lab_why="the namespaces cannot be set up"; return 1; }
	fi
	lab_ssh_config
	for lab_h in $(seq $lab_n); do
		tap_until 'lab_on 0 ssh h$lab_h true 2>"$lab/err" </dev/null' 20 || { lab_why="this sshd lets nobody in: $(head -1 "$lab/err")"; return 1; }
	done
}

# lab_namespaces N: the same in network namespaces, without which the test is skipped.
lab_namespaces() {
	lab_open "$1" && [ $lab_kind = net ] || tap_skip_all "$lab_why"
}

# lab_link K up|down
lab_link() { lab_on 0 ip link set dev h$1 "$2"; }

# lab_drop K to|from PERCENT: loses what goes to, or comes from, host K until lab_undrop; 1 where the kernel has no means.
lab_drop() {
	case $2 in to) lab_at=$1 lab_dev=up ;; from) lab_at=0 lab_dev=h$1 ;; esac
	rm -f "$lab/drop.$1.$2"
	(lab_exec $lab_at "$top_builddir/tests/net/net_drop" $lab_dev "$3" <"$lab/leash" >"$lab/drop.$1.$2" 2>&1) &
	echo $! >"$lab/drop.$1.$2.pid"
	lab_f=$lab/drop.$1.$2
	tap_until 'grep -q ready "$lab_f" || ! kill -0 "$(cat "$lab_f.pid")"'
	grep -q ready "$lab_f"
}
lab_undrop() {
	for lab_f in "$lab/drop.$1".*.pid; do
		[ -f "$lab_f" ] && kill "$(cat "$lab_f")" 2>/dev/null && rm -f "$lab_f"
	done
	return 0
}

# ---- what tests do there ----

# A training of the example in the current folder that says and writes little, and waits for slow starts.
lab_options='--set log.report=false --set log.tensorboard=false --set cluster.start_seconds=100 --set train.restarts=1 --set run.threads=1
	--fresh --no-progress'

# lab_train OPTIONS...: ten steps of it, led from host 0; what it says in out and err, the weights where -o says; got.bin is gone before.
lab_train() {
	rm -f got.bin
	lab_seconds=${QCNN_SANITIZED:+480}
	lab_on 0 timeout "${lab_seconds:-200}" "$QCNN" train config.yaml --set log.dir="$PWD/runs" $lab_options --set train.max_steps=10 "$@" >out 2>err
}

# lab_turning_agent FILE: a launcher that turns one bit of the key which the first frame brings.
lab_turning_agent() {
	cat >"$1" <<-'END'
	#!/bin/sh
	shift
	exec 3<&0
	mkfifo turned
	(head -c 15; dd bs=1 count=1 2>/dev/null | tr '\000-\377' '\001-\377\000'; exec cat) <&3 >turned &
	status=0
	sh -c "$*" <turned || status=$?
	kill $!
	exit $status
	END
	chmod +x "$1"
}

# Processes of a namespace.
lab_processes() {
	lab_ns=$(readlink "/proc/$(cat "$lab/host.$1.pid")/ns/net") || return 0
	ls -l /proc/[0-9]*/ns/net 2>/dev/null | awk -v ns="$lab_ns" '$NF == ns { split($(NF - 2), part, "/"); print part[3] }'
}

lab_close() {
	lab_status=$?
	trap - EXIT
	if [ "$lab_kind" = net ]; then
		for lab_f in $(seq 0 $lab_n); do
			[ -s "$lab/host.$lab_f.pid" ] && kill -9 $(lab_processes $lab_f) 2>/dev/null
		done
	fi
	[ -z "$lab_holders" ] || kill $lab_holders 2>/dev/null
	exec 9>&-
	exit $lab_status
}
