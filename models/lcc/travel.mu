// The eleven properties of the travel example.  Verdicts for the complete team (t01).

// Property 1 as printed: where no such message can be received now, it says only "not stuck".
// expect: holds
p1_printed : nu Z. [-]Z && [out(vacation_details(_,_,_), a(travel_agent(_,_,_),_))]
   ((mu Y. <->tt && [in(available_flights(_), a(travel_agent(_,_,_),_))]Y) &&
    (mu X. <->tt && [in(available_hotels(_), a(travel_agent(_,_,_),_))]X)) ;

// Property 1 as intended: a customer who asks for a vacation will receive flights and hotels.
// expect: holds
p1 : nu Z. [-]Z && [out(vacation_details(_,_,_), a(travel_agent(_,_,_),_))]
   ((mu Y. <->tt && [-in(available_flights(_), a(travel_agent(_,_,_),_))]Y) &&
    (mu X. <->tt && [-in(available_hotels(_), a(travel_agent(_,_,_),_))]X)) ;

// Property 2: every path reaches a state in which the hotel directory can be queried.
// expect: holds
p2 : mu Z. <#(query(HD,-,-))>tt || (<->tt && [-]Z) ;

// No agent waits forever.
// expect: holds
deadlock_free : AG !deadlock ;

// A booking can be confirmed.
// expect: holds
can_confirm : <-* . in(confirm_booking(_,_))>tt ;

// The card may be declined forever, and the customer may retry forever.
// expect: fails
inev_end : inev({in(confirm_booking(_,_)), in(quit)}) ;

// In every reachable state, all agents can still finish.
// expect: holds
always_can_end : AG EF final ;

// The customer can pay infinitely often.
// expect: holds
retry_forever : nu X. mu Y. <out(payment(_))>X || <-out(payment(_))>Y ;

// Rule 5: only OpenPGP is used.
// expect: holds
no_des : [-* . #(encrypt(des))]ff ;

// No payment before the hotels are known.
// expect: holds
pay_after_hotels : [(-in(available_hotels(_)))* . out(payment(_))]ff ;

// Every payment is confirmed or refused.
// expect: holds
paid_gets_answer : resp(out(payment(_)), {in(confirm_booking(_,_)), in(fail_payment(_,_))}) ;
