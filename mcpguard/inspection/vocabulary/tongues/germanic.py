"""Dutch and the northern languages, and more German."""

from typing import Final

DUTCH: Final = {
    "NEVER": "niet nooit geen zonder vermijd mag_niet",
    "TELL SPEAK": """
        vertel vertellen zeg zeggen meld melden vermeld vermelden noem noemen informeer informeren onthul onthullen
        verklap waarschuw waarschuwen
    """,
    "NOT_AFTER": "niets niet nooit",
    "SHOW": "toon tonen laat_zien",
    "HIDE": "verberg verbergen verzwijg verzwijgen",
    "QUIET": "verzwijg_het verzwijg_dit houd_dit_geheim hou_dit_geheim zeg_niets vertel_niemand",
    "THIS": "dit deze hierover daarover hiervan",
    "USER": "gebruiker gebruikers niemand",
    "IGNORE": "negeer negeren vergeet vergeten sla_over omzeil",
    "PREVIOUS WHOLE": "eerdere vorige voorgaande alle bovenstaande volledige hele gehele",
    "ANY": "alle elke elk ieder iedere andere ander welk hele volledige gehele",
    "INSTRUCTIONS GUIDANCE": "instructies instructie opdrachten regels aanwijzingen richtlijnen",
    "READ": "lees lezen open openen verzamel verzamelen haal_op bekijk",
    "SEND GIVE": "stuur sturen verstuur versturen verzend verzenden stuur_mee doorsturen upload meesturen",
    "CARRY GIVE": "voeg_toe toevoegen geef_door doorgeven geef_mee plak zet vul_in neem_op moet_bevatten",
    "SECRETS CREDENTIALS": """
        wachtwoord wachtwoorden inloggegevens privésleutel privésleutels api_sleutel api_sleutels toegangstoken
        omgevingsvariabelen geheimen bestand_met_wachtwoorden sleutels
    """,
    "CONVERSATION TALK": """
        gesprek gesprekken gespreksgeschiedenis chatgeschiedenis berichtgeschiedenis eerdere_berichten
    """,
    "RESULTS": "inhoud resultaat resultaten uitvoer antwoord",
    "PARAMETER": "parameter parameters veld velden",
    "BEFORE": "voordat voor alvorens",
    "FIRST": "eerst als_eerste allereerst",
    "MUST": "moet moeten altijd verplicht",
    "ALWAYS": "altijd elke_keer telkens",
    "CALL": "gebruik gebruiken gebruikt roep aanroepen uitvoeren",
    "TOOL TOOLS": "hulpmiddel hulpmiddelen gereedschap functie functies tool tools",
    "OTHER ANY": "ander andere enig_ander",
    "SYSTEM_PROMPT INNER": "systeemprompt systeeminstructies",
    "SECRETLY": "stiekem heimelijk stilletjes ongemerkt op_de_achtergrond",
    "KNOW": "weten merken ontdekken",
    "UNAWARE": "niet_weten niets_merken niet_merken niets_van_merken niet_te_weten",
    "ALSO": "ook",
    "MESSAGES": "berichten vragen",
    "WITH": "met",
    "FOLLOW": "volg gehoorzaam opvolgen",
}
SWEDISH: Final = {
    "NEVER": "inte aldrig utan undvik",
    "TELL SPEAK": "berätta säg säga nämn nämna informera informerar avslöja meddela",
    "THIS": "detta det_här",
    "USER": "användaren användare användarens",
    "IGNORE": "ignorera glöm bortse_från",
    "PREVIOUS WHOLE": "tidigare föregående alla hela",
    "INSTRUCTIONS GUIDANCE": "instruktioner anvisningar regler",
    "READ": "läs öppna samla hämta",
    "SEND GIVE": "skicka skickar vidarebefordra ladda_upp",
    "CARRY GIVE": "inkludera bifoga lägg_till ange",
    "SECRETS CREDENTIALS": """
        lösenord lösenorden inloggningsuppgifter privata_nyckeln privat_nyckel miljövariabler nycklar
    """,
    "CONVERSATION TALK": "konversation konversationen konversationshistorik chatthistorik samtalet",
    "RESULTS": "innehåll innehållet resultat",
    "PARAMETER": "parametern fältet",
    "BEFORE": "innan före",
    "FIRST": "först",
    "CALL": "använder använda använd anropa anropar kör",
    "TOOL TOOLS": "verktyg verktyget",
    "OTHER ANY": "annat andra något_annat",
    "KNOW": "veta märka upptäcka",
    "UNAWARE": "inte_veta inte_märka inte_få_veta",
    "COPY": "kopiera",
    "MESSAGES": "meddelanden frågor",
    "WITH": "med",
    "FOLLOW": "följ lyd",
}
GERMAN: Final = {
    "TELL SPEAK": """
        sagen weitersagen verrat erzähl erzählst teile_mit mitzuteilen erwähnung hinweisen weise_hin informierst
        sprich sprechen rede
    """,
    "QUIET": """
        keinen_hinweis kein_hinweis behalte_das_für_dich behalte_dies_für_dich bleib_unter_uns bleibt_unter_uns
        sag_nichts sage_nichts schweige kein_wort stillschweigen geheim_halten halte_es_geheim halte_das_geheim
    """,
    "NEVER": "darf_nicht nicht_nötig ohne_dass braucht_nicht muss_nicht",
    "IGNORE": "setz_dich_über hinweg verwirf verwerfe beachte_nicht",
    "GIVE": """
        sende senden schicke schicken übermittle übermitteln übergib übergebe übergeben gib geben mitgeben füge
        einfügen anhängen hänge_an kopiere kopieren schreibe schreiben trage_ein eintragen muss_enthalten enthalten
        mitschicken mitsenden weiterleiten beifügen beizufügen anzugeben
    """,
    "CARRY": "mitgeben mitschicken mitsenden beifügen eintragen trage muss_enthalten",
    "WHOLE": """
        gesamten gesamte ganze ganzen vollständigen vollständige vollständig kompletten komplette alle bisherigen
        bisherige
    """,
    "TALK": "gespräch gesprächsverlauf chatverlauf unterhaltung nachrichtenverlauf konversation verlauf",
    "CONVERSATION": "konversation alle_nachrichten bisherigen_nachrichten",
    "CREDENTIALS": "zugangsdaten anmeldedaten passwörter kennwort kennwörter pin tan",
    "SECRETS": """
        kennwort kennwörter geheimschlüssel privaten_schlüssel privater_schlüssel api_schlüssel zugriffstoken
    """,
    "GUIDANCE": "anweisungen vorgaben",
    "INNER": "systemprompt systemanweisungen system_anweisungen",
    "RESULTS": "inhalt inhalte",
    "CALL": "benutzt verwendest verwendet nutzt nutzen",
    "ALSO": "zudem ferner",
    "KNOW": "erfährt mitbekommen mitbekommt mitkriegen bemerken bemerkt merkt weiß ahnen",
    "VOID": "hinfällig ungültig aufgehoben",
    "FOLLOW": "gehorchst folge folgst",
    "UNAWARE": """
        keinesfalls_erfahren nicht_erfahren nichts_erfahren nicht_wissen nichts_mitbekommen nicht_merken
        nichts_merken nicht_mitbekommen ohne_wissen_des_benutzers ohne_wissen_des_nutzers
    """,
    "HERE": "in_das_feld ins_feld",
    "MESSAGES": "nachrichten fragen eingaben",
    "WITH": "mit",
}
FINNISH: Final = {
    "QUIET": "älä_kerro älä_mainitse älä_paljasta",
    "USER": "käyttäjälle käyttäjä käyttäjän",
    "IGNORE": "unohda ohita",
    "PREVIOUS WHOLE": "aiemmat kaikki koko",
    "INSTRUCTIONS GUIDANCE": "ohjeet ohjeita säännöt",
    "READ": "lue avaa",
    "SEND GIVE": "lähetä",
    "SECRETS CREDENTIALS": "salasanat salasana yksityinen_avain",
    "CONVERSATION TALK": "keskustelu keskustelun",
}
DANISH_NORWEGIAN: Final = {
    "QUIET": "ikke_fortæl_brugeren fortæl_ikke ikke_fortell_brukeren fortell_ikke ikke_nevn_dette nævn_ikke",
    "USER": "brugeren bruger brukeren bruker",
    "IGNORE": "ignorer glem",
    "PREVIOUS WHOLE": "tidligere alle hele",
    "INSTRUCTIONS GUIDANCE": "instruktioner instruksjoner regler",
    "READ": "læs les åbn åpne",
    "SECRETS CREDENTIALS": "adgangskoder passord adgangskode private_nøgle private_nøkkel",
    "CONVERSATION TALK": "samtale samtalen samtalehistorik",
}
