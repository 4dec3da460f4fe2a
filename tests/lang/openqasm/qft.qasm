OPENQASM 3.0;
include "stdgates.inc";
const int n = 5;
qubit[n] q;
x q[0];
ry(0.7) q[3];
for int i in [0:n-1] {
  h q[n-1-i];
  for int k in [i+1:n-1] {
    cp(pi/2**(k-i)) q[n-1-k], q[n-1-i];
  }
}
swap q[0], q[4];
swap q[1], q[3];
