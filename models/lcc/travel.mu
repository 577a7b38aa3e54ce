// The eleven properties of the travel example.  Verdicts for the complete team (t01).

// Property 1 as printed: where no such message can be received now, it says only "not stuck".
// expect: holds
p1_printed : nu Z. [-]Z && [out(vacation_details(_,_,_), a(travel_agent(_,_,_),_))]
   ((mu Y. <->tt && [in(available_flights(_), a(travel_agent(_,_,_),_))]Y) &&
    (mu X. <->tt && [in(available_hotels(_), a(travel_agent(_,_,_),_))]X)) ;

// Property 1 as meant: whoever asks for a vacation will receive flights and hotels.
// expect: holds
p1 : nu Z. [-]Z && [out(vacation_details(_,_,_), a(travel_agent(_,_,_),_))]
   ((mu Y. <->tt && [-in(available_flights(_), a(travel_agent(_,_,_),_))]Y) &&
    (mu X. <->tt && [-in(available_hotels(_), a(travel_agent(_,_,_),_))]X)) ;

// Property 2: on every run a state is reached in which the hotel directory can be queried.
// expect: holds
p2 : mu Z. <#(query(HD,-,-))>tt || (<->tt && [-]Z) ;

// Nobody waits for ever.
// expect: holds
deadlock_free : AG !deadlock ;

// A booking can be confirmed.
// expect: holds
can_confirm : <-* . in(confirm_booking(_,_))>tt ;

// The card may decline for ever, and the customer may try for ever.
// expect: fails
inev_end : inev({in(confirm_booking(_,_)), in(quit)}) ;

// Whatever has happened, everybody can finish.
// expect: holds
always_can_end : AG EF final ;

// The customer can pay again and again for ever.
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
