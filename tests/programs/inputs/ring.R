library(Rmpi, quietly = TRUE)
rank <- mpi.comm.rank(0); size <- mpi.comm.size(0)
value <- rank
for (i in 1:200) value <- mpi.sendrecv(as.double(value), 2, (rank + 1) %% size, 0, double(1), 2, (rank + size - 1) %% size, 0, comm = 0)
total <- mpi.allreduce(as.double(value + 1), 2, "sum", comm = 0)
text <- mpi.bcast.Robj(list(a = 1:10, b = "words"), 0, comm = 0)
if (rank == 0) cat("total", total, "\n")
mpi.quit()
