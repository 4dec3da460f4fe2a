/* SPDX-License-Identifier: Apache-2.0
 * What Open MPI takes to sum as many numbers over all ranks as a step has weights: median and least. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 63, nstep = argc > 2 ? atoi(argv[2]) : 5000, rank;
	double *in = calloc((size_t)n, sizeof *in), *out = calloc((size_t)n, sizeof *out), *took = calloc((size_t)nstep, sizeof *took);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < nstep; i++) {
		double begin = MPI_Wtime();

		MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		took[i] = MPI_Wtime() - begin;
	}
	qsort(took, (size_t)nstep, sizeof *took, ascending);
	if (!rank)
		printf("least=%.2f median=%.2f\n", took[0] * 1e6, took[nstep / 2] * 1e6);
	MPI_Finalize();
	return 0;
}
