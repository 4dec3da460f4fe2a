OPENQASM 3.0;
include "stdgates.inc";
const int[8] n = 2;
input angle[32] φ;
qubit[n] q;
bit m = measure q[1];
bit[n] c;
for uint[8] i in [0:n-1] { ctrl @ U(φ, 0, π) q[i], $3; }
measure $3;
c[0] = measure q[0];
