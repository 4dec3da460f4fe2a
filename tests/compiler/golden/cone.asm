qcnn_asm 1
weights
  0 "t" float ~ uniform(0, 6.283185307179586)
exprs
  %0 = weight 0  ; t
matrices
  m0 1 "h" {  ; constant
    h 0
  }
  m1 1 "rx" {  ; shared
    rx(%0) 0
  }
  m2 1 "x" {  ; constant, permutation
    x 0
  }
  m3 1 "rz" {  ; shared, diagonal
    rz(%0) 0
  }
circuits
  0 "" wires 5 {
    register "q" 0 5
    m0 0 span 0  ; line 4
    m0 1 span 0  ; line 4
    m1 0 span 1  ; line 5
    ctrl m2 0 1 span 2  ; line 6
    swap 1 2 span 3  ; line 7
    m3 2 span 4  ; line 9
    discard 4 span 5  ; line 11
    pauli 1 z2
  }
spans
  0: 4 1
  1: 5 1
  2: 6 1
  3: 7 1
  4: 9 1
  5: 11 1
