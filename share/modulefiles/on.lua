-- Preloads mpiprof into what a job runs. In a job alone: a login shell whose every command is preloaded helps nobody.
local root = myFileName():match("^(.*)/share/modulefiles/")
help([[Profiles the MPI and NCCL programs that this job runs. Read the profiles with mpiprof-report.]])
whatis("Description: mpiprof: profile the programs of this job")
local job = false
for _, name in ipairs({"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "COBALT_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID", "JOB_ID",
                       "KUBERNETES_SERVICE_HOST", "MPIPROF_JOB"}) do
   if (os.getenv(name) or "") ~= "" then job = true end
end
if mode() == "load" and not job then
   LmodError("mpiprof/on: load it in a job script, or set MPIPROF_JOB to a name of your own")
end
for _, name in ipairs({"LD_PRELOAD", "APPTAINERENV_LD_PRELOAD", "SINGULARITYENV_LD_PRELOAD"}) do
   prepend_path(name, pathJoin(root, "lib/libmpiprof.so"))
end
