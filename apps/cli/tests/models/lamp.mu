// A lamp that may burn out.
works   : AG !deadlock ;
lit     : <press>tt ;
repeats : nu X. <press>X ;
off     : inev("burn out") ;
