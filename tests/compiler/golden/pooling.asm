qcnn_asm 1
weights
  0 "t" float[2] ~ uniform(0, 6.283185307179586)  ; weights 0 to 1
exprs
  %0 = weight 0  ; t[0]
  %1 = weight 1  ; t[1]
matrices
  m0 1 "h" {  ; constant
    h 0
  }
  m1 1 "rx" {  ; shared
    rx(%0) 0
  }
  m2 1 "ry" {  ; shared
    ry(%1) 0
  }
  m3 1 "rz" {  ; shared, diagonal
    rz(%0) 0
  }
  m4 1 "x" {  ; constant, permutation
    x 0
  }
  m5 1 "z" {  ; constant, diagonal
    z 0
  }
circuits
  0 "" wires 5 {
    register "q" 0 5
    m0 0 span 0  ; line 5
    m0 1 span 0  ; line 5
    m0 2 span 0  ; line 5
    measure 0 span 1  ; line 3
    ctrl m1 0 1 span 2  ; line 3
    negctrl m2 0 1 span 3  ; line 3
    discard 0 span 4  ; line 3
    measure 2 span 5  ; line 7
    ctrl m3 2 1 span 6  ; line 7
    ctrl m4 2 1 span 7  ; line 8
    negctrl m5 2 1 span 8  ; line 8
    pauli 1 z1
    pauli 1 z2
    probs 1 2
  }
spans
  0: 5 1
  1: 3 43
  2: 3 46
  3: 3 63
  4: 3 75
  5: 7 13
  6: 7 21
  7: 8 19
  8: 8 32
