/* SPDX-License-Identifier: Apache-2.0
 * Epochs, steps and samples of a training job. */
#include "runtime/train/job/train_job.h"

unsigned train_values(const struct train_job *j)
{
	return measures_at(&j->measures, j->measures.nmetric, j->program->noutput);
}

/* Is the epoch in the list?  Its place there does not matter. */
static bool in_list(const struct train_job *j, uint32_t epoch)
{
	for (uint32_t i = 0; i < j->nvalidation_epoch; i++)
		if (j->validation_epoch[i] == epoch)
			return true;
	return false;
}

bool train_validates(const struct train_job *j, uint32_t epoch)
{
	if (!j->validation.nrow)
		return false;
	if (j->nvalidation_epoch)
		return in_list(j, epoch);
	return !j->validation_freq || epoch % j->validation_freq == 0;
}

uint32_t train_batch_size(const struct train_job *j)
{
	return j->batch_size < j->train.nrow && !optimizer_takes_all(j->optimizer) ? j->batch_size : j->train.nrow;
}

uint32_t train_steps_per_pass(const struct train_job *j)
{
	return (j->train.nrow - 1) / train_batch_size(j) + 1;
}

uint32_t train_steps_per_epoch(const struct train_job *j)
{
	return j->steps_per_epoch ? j->steps_per_epoch : train_steps_per_pass(j);
}

/* Samples of the first n updates of all; the last batch of a pass may be smaller. */
static uint64_t samples_before(const struct train_job *j, uint64_t n)
{
	uint32_t per_pass = train_steps_per_pass(j);

	return n / per_pass * j->train.nrow + n % per_pass * train_batch_size(j);
}

uint64_t train_samples(const struct train_job *j, uint32_t epoch, uint32_t n)
{
	uint64_t before = (uint64_t)(epoch - 1) * train_steps_per_epoch(j);

	return samples_before(j, before + n) - samples_before(j, before);
}
