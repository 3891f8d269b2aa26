"""PETSc: a Laplacian on a square, solved by conjugate gradients."""
from petsc4py import PETSc

n = 40
matrix = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
begin, end = matrix.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, n)
    matrix[row, row] = 4.0
    for neighbour in (row - n if i else None, row + n if i < n - 1 else None, row - 1 if j else None, row + 1 if j < n - 1 else None):
        if neighbour is not None:
            matrix[row, neighbour] = -1.0
matrix.assemble()
solution, right = matrix.createVecs()
right.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.getPC().setType("jacobi")
solver.setTolerances(rtol=1e-10)
solver.solve(right, solution)
PETSc.Sys.Print("iterations %d, largest %.10f, norm %.10f" % (solver.getIterationNumber(), solution.max()[1], solution.norm()))
