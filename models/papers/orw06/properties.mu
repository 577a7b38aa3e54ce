// Section 5.2 of [ORW06]: Property 1 as printed, Property 1 as its text explains it (the box is about all steps but the
// receipt, so the receipt comes on every path), and Property 2 as printed.
property1_printed : νZ. [−]Z ∧ [out(vacation_details(_, _, _), a(travel_agent(_, _, _), _))]
   ((μY. ⟨−⟩tt ∧ [in(available_flights(_), a(travel_agent(_, _, _), _))]Y) ∧
    (μX. ⟨−⟩tt ∧ [in(available_hotels(_), a(travel_agent(_, _, _), _))]X)) ;
property1 : νZ. [−]Z ∧ [out(vacation_details(_, _, _), a(travel_agent(_, _, _), _))]
   ((μY. ⟨−⟩tt ∧ [−in(available_flights(_), a(travel_agent(_, _, _), _))]Y) ∧
    (μX. ⟨−⟩tt ∧ [−in(available_hotels(_), a(travel_agent(_, _, _), _))]X)) ;
property2 : μZ. ⟨#(query(HD, −, −))⟩tt ∨ (⟨−⟩tt ∧ [−]Z) ;
deadlock_free : AG !deadlock ;
