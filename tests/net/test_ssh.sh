#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Workers by ssh, through a real sshd that this test starts on the loopback interface with keys of its own.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/net/ports.sh"

sshd=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v sshd) || tap_skip_all "sshd is not installed"
command -v ssh >/dev/null || tap_skip_all "ssh is not installed"
case $sshd in /*) ;; *) tap_skip_all "sshd has no absolute path" ;; esac
[ "$(id -u)" != 0 ] || [ -d /run/sshd ] || mkdir -p /run/sshd 2>/dev/null || tap_skip_all "sshd needs /run/sshd"

here=$PWD
user=$(id -un)
ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f user_key || tap_skip_all "ssh-keygen does not work"
cp user_key.pub authorized_keys
chmod 600 authorized_keys

# start_sshd: leaves $port and the process's number in sshd.pid.
start_sshd() {
	take_ports || return 1
	cat >sshd_config <<-END
	Port $port
	ListenAddress 127.0.0.1
	HostKey $here/host_key
	PidFile $here/sshd.pid
	AuthorizedKeysFile $here/authorized_keys
	StrictModes no
	PasswordAuthentication no
	UsePAM no
	PermitRootLogin yes
	MaxStartups 4:60:10
	END
	"$sshd" -f "$here/sshd_config" -E "$here/sshd.log" 2>sshd.err && tap_until '[ -s sshd.pid ] || grep -q "Cannot bind" sshd.log'
	[ -s sshd.pid ]
}
end_sshd() { [ -s sshd.pid ] && kill "$(cat sshd.pid)" 2>/dev/null; }
trap end_sshd EXIT
start_sshd || tap_skip_all "sshd does not start: $(head -1 sshd.err sshd.log 2>/dev/null | tr '\n' ' ')"

# An ssh that knows where to go: in front of the real one in PATH.
mkdir bin
cat >bin/ssh <<END
#!/bin/sh
exec $(command -v ssh) -F "$here/ssh_config" "\$@"
END
cat >ssh_config <<END
Host *
	HostName 127.0.0.1
	Port $port
	User $user
	IdentityFile $here/user_key
	IdentitiesOnly yes
	UserKnownHostsFile $here/known_hosts
	StrictHostKeyChecking no
	LogLevel ERROR
END
chmod +x bin/ssh
PATH=$here/bin:$PATH
export PATH
ssh a true 2>err || tap_skip_all "this sshd lets nobody in: $(head -1 err)"

cp "$top_srcdir"/examples/cluster-hybrid/* .
train() {
	out=$1
	shift
	rm -f $out.bin
	timeout ${QCNN_SANITIZED:+3}00 "$QCNN" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false \
		--set cluster.start_seconds=100 --set train.epochs=2 --set train.restarts=1 --fresh --no-progress -o "$out.bin" "$@" >out 2>err
}
train want
tap_ok "two hosts by ssh" train got --hosts a,b
tap_ok "the weights are the same" cmp want.bin got.bin
tap_has err "2 workers on 2 hosts" "as many as were asked for"
tap_ok "not encrypted, with a user and workers that share a host" train got --hosts "$user@a:2,b,local" --encrypt=off
tap_ok "the weights are the same" cmp want.bin got.bin
# More at once than this sshd lets in: some connections are dropped and tried again.
tap_ok "twelve at once" train got --hosts a:12 || tap_note "$(tail -3 err)"
tap_ok "the weights are the same" cmp want.bin got.bin

printf '#!/bin/sh\necho "Welcome to this host"\nexec "%s" "$@"\n' "$QCNN" >wrapped
chmod +x wrapped
train got --hosts a --remote-path "$PWD/wrapped"
tap_is $? 0 "qcnn at another place, behind a greeting"
tap_has err "a[0]: Welcome to this host" "which is shown with host and rank"
train got --hosts a,b --remote-path /nowhere/qcnn
tap_is $? 69 "qcnn at no place"
tap_has err "ssh ended with exit status 127" "its exit status is shown"
tap_has err "(--remote-path gives the path of qcnn there, --push sends this one)" "and what to do"
printf '#!/bin/sh\nexit 77\n' >refuses
chmod +x refuses
train got --hosts a --remote-path "$PWD/refuses"
tap_is $? 77 "an exit status that means something is passed on"

# A client that is killed takes its worker along.  A copy of the program tells its workers from those of other tests.
cp "$QCNN" copy
"$PWD/copy" train config.yaml --set log.dir="$PWD/runs" --set log.report=false --set log.tensorboard=false --set cluster.start_seconds=100 --fresh --no-progress \
	--set train.epochs=1000000 --hosts a,b >out 2>err &
coordinator=$!
tap_until "grep -q 'ready after' err"
# Workers and, as their parents, those that look after them.
workers() { ps -eo pid=,args= | awk -v q="$PWD/copy" '$2 == q && $3 == "worker" { print $1 }'; }
tap_is "$(workers | wc -w)" 4 "two workers run, with a guard each"
kill -9 "$(ps -o pid= --ppid $coordinator | awk 'NR == 1 { print $1 }')"
tap_until "grep -q 'is lost' err"
tap_has err "its ssh ended with signal 9 (Killed)" "an ssh that is killed is named"
tap_until '[ "$(workers | wc -w)" = 2 ]'
tap_is "$(workers | wc -w)" 2 "and its worker goes"
kill -9 $coordinator
wait $coordinator 2>/dev/null
tap_until '[ -z "$(workers)" ]'
tap_is "$(workers)" "" "when the coordinator is killed, no worker is left"

end_sshd
tap_until '! ssh a true'
train got --hosts a
tap_is $? 69 "a host without sshd"
tap_has err "a[0]: its ssh ended with exit status 255; its last output: ssh: connect to host 127.0.0.1 port $port: Connection refused" \
	"is named, with what ssh says"
tap_done
