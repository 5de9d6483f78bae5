"""Words that mean nearly the same where tools are concerned: data, and nothing else.

Rules kept here:
1. Groups are separated by semicolons. A word may stand in several groups; they do not become one by that.
2. A word of a query finds the others of its groups at `WEIGHT` of what it finds itself.
3. Words stand in any form: what is compared are their stems.
"""

from typing import Final

WEIGHT: Final = 0.5

GROUPS: Final = """
    create add new make insert register generate; create build construct compose draft; open create start;
    delete remove erase drop destroy purge clear discard; delete cancel unlink trash;
    cancel abort stop terminate revoke; uninstall remove; list show display enumerate browse; list all every;
    get fetch retrieve read obtain load; get show view see; get find lookup; read view open content;
    retrieve download; search find query lookup locate discover seek; filter match select;
    update edit modify change alter revise patch; update replace overwrite set; set assign configure; change switch;
    rename move; move transfer relocate; write save store put persist record; send post deliver dispatch transmit;
    send email mail; send text sms; post publish share submit release; upload attach put push; download export save;
    import ingest load; copy duplicate clone replicate; run execute launch invoke start trigger perform;
    start begin launch boot; stop halt shutdown kill end terminate; pause suspend; resume continue restart;
    restart reboot; check verify validate test inspect; status state health condition; monitor watch track observe;
    compare diff difference versus; difference change; merge combine join concatenate; split divide separate;
    convert transform translate change; translate language translation; summarize summary digest overview;
    summary recap; analyze analysis examine evaluate inspect;
    calculate compute calculation math arithmetic evaluate; count number total tally; sum total add;
    estimate predict forecast projection; recommend suggest recommendation suggestion advice propose;
    schedule plan book arrange; book reserve reservation booking; order buy purchase; buy shop shopping;
    pay payment charge checkout; invoice bill billing; subscribe follow; approve accept confirm;
    reject decline deny refuse; enable activate; disable deactivate; lock freeze; block ban;
    comment reply respond answer note; answer response; ask question query; explain describe;
    describe detail information info about; info metadata property attribute; detail specification; assign delegate;
    invite member; notify notification alert remind; remind reminder; label tag category; categorize classify group;
    sort order rank; top best popular trending; latest recent newest new last current; current now today present;
    history past previous log; log journal; upcoming future next; schedule calendar agenda timetable;
    calendar event appointment meeting; meeting call conference; file document; folder directory; path location;
    image picture photo photograph; image draw illustration graphic art; video clip movie film; movie film cinema;
    show series tv; music song track audio; audio sound voice; playlist album;
    transcript transcribe caption subtitle; user account person member profile people; user customer client;
    contact person; team group; employee staff worker;
    company business firm organization organisation corporation enterprise; organization org;
    issue bug ticket problem defect; issue task; task todo assignment; ticket incident; project workspace;
    repository repo codebase; pull merge pr; branch fork; commit revision; version release revision;
    code source program script snippet; function method; error exception failure crash fault;
    deploy deployment release rollout; pipeline workflow build ci; container docker pod;
    server host machine instance; cluster kubernetes k8s; database db sql; table relation; row record entry;
    column field; schema structure; index key; website site web page url; webpage page; url link address;
    internet web online; browser tab page; scrape crawl extract; extract parse; click press tap; type fill enter;
    screenshot capture; message chat dm; message mail email; channel room; email inbox; mail letter;
    article post blog; news headline article story; headline title; title name; text string content; content body;
    note memo; page document; spreadsheet sheet excel workbook; slide presentation deck;
    chart graph plot diagram visualization; report dashboard; metric statistic measurement kpi; statistics stats;
    data dataset; price cost quote rate fee; price value; stock share equity ticker; stock inventory availability;
    crypto cryptocurrency bitcoin coin token; currency money exchange; exchange rate forex; finance financial;
    tax duty; salary wage; budget spending expense; bank account; transaction transfer payment;
    product item goods merchandise; cart basket; discount coupon promotion deal offer voucher;
    shipment package parcel delivery shipping; track trace; weather forecast climate temperature;
    rain precipitation; map location place geographic; place venue spot; coordinates latitude longitude geolocation;
    near nearby close around; distance far length; direction route navigation way; route path; city town;
    country nation; address street; travel trip journey itinerary; trip tour; flight airline plane fly airplane;
    hotel accommodation lodging stay room; apartment house home property estate; rent rental lease;
    car vehicle auto automobile; cab taxi ride; train rail railway; bus transit transport;
    restaurant dining eat cuisine; food meal dish; recipe cook ingredient; drink beverage; nutrition calorie diet;
    workout exercise fitness training; health medical; doctor physician; medicine drug medication;
    disease illness symptom; game play; team club; match game fixture; score result; sport football soccer;
    player athlete; joke funny humor laugh; quote quotation saying; book novel; author writer;
    paper publication research study; paper article; citation reference; definition meaning dictionary;
    definition define; synonym thesaurus; word vocabulary; grammar spelling; learn study education course;
    course lesson class; school university college; job career vacancy position; resume cv; law legal;
    contract agreement; password credential secret; login authentication signin auth; permission access role;
    key token; encrypt cipher; hash checksum digest; security vulnerability threat; domain dns hostname; ip address;
    network connection; time clock hour; timezone tz; date day; birthday birth; random arbitrary; color colour;
    size dimension; resize scale; crop trim; compress zip archive; archive backup; backup snapshot;
    restore recover rollback undo; undo revert; sync synchronize; connect link; environment env variable;
    setting configuration config option preference; light lamp; device gadget; temperature thermostat;
    memory remember recall; node entity; edge relation; graph network; similar related like; rating review;
    feedback opinion review; sentiment emotion mood; survey poll questionnaire; form questionnaire;
    advertisement ad marketing campaign; lead prospect; logo brand; design layout; template boilerplate;
    website seo; keyword term; phone telephone mobile number; phone call; horoscope zodiac astrology; gift present;
    baby child kid; pet animal; gene protein; patent invention; planet space astronomy; number digit; prime factor;
    equation formula; unit measurement; google search web; look search find view; visit navigate open browse;
    go navigate; jot write note; illuminate light lamp; lamp bulb light; reimburse refund repay;
    dollar euro pound yen currency money; ram memory; cpu processor load; disk storage drive; dark night sunset;
    sunrise dawn; rain snow wind storm weather; outside outdoor weather; cold hot warm heat temperature;
    celsius fahrenheit degree temperature; colleague coworker teammate employee contact; boss manager supervisor;
    vacation holiday leave absence; vacuum hoover clean; overdue unpaid outstanding due late;
    angry upset happy sentiment; say talk conversation discussion message chat; rid delete remove; big large size;
    modified changed status diff; staged untracked status; postpone reschedule delay update;
    attendee guest participant invitee; invite invitation; recruit hire job; mute silence quiet; quiet loud volume;
    hear listen play audio; watch play video; draw paint sketch generate; cut trim clip crop; shorten summarize;
    brief summary; owner whois; expire expiry expiration; renew extend; slow performance latency; fast speed;
    uptime availability; crash fail failure; replica instance scale; bounce restart; kick trigger start;
    ship deliver; warehouse inventory stock; sell sale; revenue income sale; profit earning; loan mortgage credit;
    visa passport; luggage baggage; airport flight; bike bicycle cycling; walk foot pedestrian; park parking;
    fuel gas petrol; pharmacy drugstore shop; hospital clinic; dentist doctor; allergy pollen; concert show event;
    museum attraction sight sightseeing landmark; coffee cafe; podcast episode; lyric song;
    artist musician singer band; actor actress cast; quiz trivia; bet odds; league standings;
    tournament competition championship; politician government politics; earthquake disaster;
    chemistry molecule compound; embedding vector; llm ai model; speech voice; ocr text; barcode qr; pattern regex;
    uuid guid identifier id; webhook callback; api endpoint; package library dependency module; compile build;
    usage reference; sprint iteration; board kanban; goal objective; tweet twitter post; follower subscriber;
    wiki wikipedia encyclopedia; bookmark favorite star; feed rss; finish done complete; task job;
    grant allow permission; share permission; undo restore; brand company; buyer customer shopper;
    seller vendor merchant supplier; supply provide; earn income; teach learn; teacher student; relative family;
    friend contact people; fix repair correct; mistake error typo; correct grammar spelling; fill complete;
    empty clear; join enter; attach add; detach remove; mount attach; pick choose select; choice option;
    begin start; end finish stop; reach arrive; leave depart departure; cheap price cost; expensive price;
    spend expense; worth value; sample example; demo example; guide tutorial documentation;
    documentation docs manual; help support; support ticket; complaint issue ticket; freeze pause
"""
