allocations left 0
