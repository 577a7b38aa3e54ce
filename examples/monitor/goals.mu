// What the team is there for: the reviewer reports that the task is done.
task_done : <-* . out(done(_))@rex>tt ;
