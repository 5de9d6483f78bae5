"""Polish, Czech and Ukrainian, and more Russian."""

from typing import Final

POLISH: Final = {
    "NEVER": "nie nigdy bez nie_wolno",
    "TELL SPEAK": """
        mów mówić powiedz powiedzieć informuj informować poinformuj wspominaj wspominać wspomnij ujawniaj ujawniać
        ujawnij zdradzaj powiadamiaj powiadamiać
    """,
    "SHOW": "pokazuj pokaż pokazywać wyświetlaj",
    "HIDE": "ukryj ukryć ukrywaj zataj",
    "QUIET": "zachowaj_w_tajemnicy trzymaj_w_tajemnicy nikomu_nie_mów",
    "THIS": "tym tego to_działanie o_tym ten_krok",
    "USER": "użytkownik* nikomu",
    "IGNORE": "ignoruj ignorować zignoruj zapomnij pomiń odrzuć",
    "PREVIOUS WHOLE": "poprzedni* wcześniejsz* wszystk* cał* pełn*",
    "ANY": "każd* wszystk* inn* jakiegokolwiek jakiekolwiek cał* pełn*",
    "INSTRUCTIONS GUIDANCE": "instrukcj* polece* zasad* wytyczn* rozkaz* reguł*",
    "READ": "przeczytaj czytaj odczytaj otwórz pobierz zbierz odczytać",
    "SEND GIVE": "wyślij wysyłaj wysłać prześlij przesyłaj przesłać przekaż przekazuj przekazać",
    "CARRY GIVE": "dołącz dołączaj dodaj umieść wklej wpisz zawrzyj",
    "SECRETS CREDENTIALS": """
        hasło hasła haseł hasłami hasłem klucz_prywatny klucze_prywatne klucza_prywatnego klucze_api dane_logowania
        zmienne_środowiskowe poświadczeni*
    """,
    "CONVERSATION TALK": "rozmow* konwersacj* historię_czatu historia_czatu historię_rozmowy",
    "RESULTS": "zawartość zawartości treść wynik wyniki",
    "PARAMETER": "parametr* pole polu argument*",
    "BEFORE": "przed zanim",
    "FIRST": "najpierw po_pierwsze",
    "MUST": "musisz musi należy trzeba zawsze koniecznie",
    "ALWAYS": "zawsze za_każdym_razem",
    "CALL": "użyj użyciem używać użyjesz wywołaj wywołać uruchom",
    "TOOL TOOLS": "narzędzi* funkcj*",
    "OTHER": "inne innych innego innym inny",
    "SYSTEM_PROMPT INNER": "prompt_systemowy instrukcje_systemowe",
    "SECRETLY": "potajemnie po_cichu dyskretnie w_tle niepostrzeżenie",
    "KNOW": "wiedzieć dowiedzieć dowie zauważyć wie",
    "UNAWARE": """
        nie_może_wiedzieć nie_może_się_o_tym_dowiedzieć nie_może_się_dowiedzieć nie_powinien_wiedzieć
        bez_wiedzy_użytkownika nie_dowie
    """,
    "COPY GIVE": "skopiuj kopiuj",
    "MESSAGES": "wiadomości pytania",
    "WITH": "z_całą z_całym z_pełną",
    "FOLLOW": "przestrzegaj słuchaj stosuj",
}
CZECH: Final = {
    "NEVER": "nikdy bez neříkej nesmíš ne",
    "QUIET": "neříkej_to neříkej_uživateli nezmiňuj nezmiňuj_to neinformuj_uživatele neprozrazuj",
    "USER": "uživatel*",
    "IGNORE": "ignoruj ignorujte zapomeň",
    "PREVIOUS WHOLE": "předchozí všechny celou celý",
    "INSTRUCTIONS GUIDANCE": "instrukce pokyny pokynů pravidla",
    "READ": "přečti otevři načti získej",
    "SEND GIVE": "pošli odešli odeslat předej",
    "SECRETS CREDENTIALS": "heslo hesla hesel soukromý_klíč přihlašovací_údaje",
    "CONVERSATION TALK": "konverzac* historii_konverzace",
    "RESULTS": "obsah",
    "BEFORE": "před",
    "CALL": "použitím použij zavolej",
    "TOOL TOOLS": "nástroj*",
    "OTHER ANY": "jiného jiný jakéhokoli ostatní",
    "FIRST": "nejprve nejdřív",
    "KNOW": "vědět dozvědět zjistit",
    "UNAWARE": "nesmí_vědět nesmí_se_dozvědět bez_vědomí_uživatele nesmí_zjistit",
}
UKRAINIAN: Final = {
    "NEVER": "не ніколи без не_можна",
    "TELL SPEAK": "кажи казати говори повідомляй повідомляти згадуй згадувати розповідай розкривай інформуй",
    "SHOW": "показуй показувати",
    "HIDE": "приховуй приховай сховай",
    "THIS": "це цього цей про_це",
    "USER": "користувач* нікому",
    "IGNORE": "ігноруй ігнорувати проігноруй забудь відкинь",
    "PREVIOUS WHOLE": "попередн* усі всі всю весь повн*",
    "ANY": "будь_який будь_якого усі всі кожн* інш* повн* всю",
    "INSTRUCTIONS GUIDANCE": "інструкці* вказівк* правил* наказ*",
    "READ": "прочитай читай відкрий отримай збери",
    "SEND GIVE": "надішли надсилай відправ* перешли передай",
    "CARRY GIVE": "додай вклади вкажи встав",
    "SECRETS CREDENTIALS": """
        пароль паролі паролями паролів приватний_ключ закритий_ключ ключі облікові_дані змінні_середовища токени
        токен
    """,
    "CONVERSATION TALK": "розмов* історію_чату історію_розмови діалог*",
    "RESULTS": "вміст результат* зміст",
    "PARAMETER": "параметр* поле полі",
    "BEFORE": "перед до_того",
    "FIRST": "спочатку спершу",
    "MUST": "потрібно необхідно повинен завжди обов_язково",
    "ALWAYS": "завжди щоразу",
    "CALL": "використан* викличи виклик* використ*",
    "TOOL TOOLS": "інструмент* функці*",
    "OTHER": "інші інший іншого інших",
    "SYSTEM_PROMPT INNER": "системний_промпт системні_інструкції",
    "SECRETLY": "таємно непомітно мовчки приховано",
    "KNOW": "дізнатися знати помітити дізнається",
    "UNAWARE": """
        не_повинен_знати не_повинен_дізнатися не_повинен_про_це_дізнатися без_відома_користувача не_дізнається
    """,
    "COPY GIVE": "скопіюй копіюй",
    "MESSAGES": "повідомлення запитання",
    "FOLLOW": "дотримуйся слухайся виконуй",
}
RUSSIAN: Final = {
    "TELL SPEAK": "скажи сказать сообщать говорить упоминать рассказать раскрывать уведомлять",
    "QUIET": "никому_не_говори держи_в_секрете сохрани_в_тайне храни_в_тайне ни_слова между_нами",
    "GIVE": """
        отправ* перешл* переда* включи* добав* приложи* встав* укажи* помести* должен_содержать должно_содержать
    """,
    "WHOLE": "весь всю вся все полн* предыдущ* цел*",
    "TALK": "переписк* разговор* диалог* бесед* истори*",
    "CONVERSATION": "бесед* историю_сообщений",
    "CREDENTIALS": "парол* учетные_данные учетных_данных",
    "GUIDANCE": "инструкци* указани*",
    "INNER": "системный_промпт системного_промпта системные_инструкции",
    "FIRST": "вначале первым_делом",
    "KNOW": "узнает догадаться догадался",
    "UNAWARE": """
        не_должен_знать не_должен_узнать не_должен_об_этом_узнать без_ведома_пользователя не_узнал не_узнает
        не_заметил не_догадался не_должен_заметить
    """,
    "SECRETS": "токены токен токенов",
    "MESSAGES": "сообщения сообщений вопросы",
}
