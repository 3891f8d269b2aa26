/* Included by NCCL's header where there are types of 16 bits; nothing of it is needed here. */
