"""Portuguese, Italian and Romanian, and more Spanish and French."""

from typing import Final

PORTUGUESE: Final = {
    "NEVER": "não nunca jamais evite sem nunca_jamais não_deve não_devem",
    "TELL SPEAK": """
        conte contar diga dizer informe informar mencione mencionar mencionando revele revelar avise avisar avisando
        fale falar comente comentar notifique notificar divulgue divulgar contando informando
    """,
    "SHOW": "mostre mostrar exiba exibir",
    "HIDE": "esconda esconder oculte ocultar omita",
    "QUIET": "mantenha_segredo mantenha_em_segredo guarde_segredo não_conte_a_ninguém em_sigilo",
    "THIS": "isso isto este esta disso disto desta deste esse essa",
    "IGNORE": "ignore ignorar esqueça esquecer desconsidere desconsiderar descarte desobedeça",
    "PREVIOUS ANY WHOLE": "todas todos todo toda qualquer completo completa inteiro inteira",
    "PREVIOUS WHOLE": "anterior anteriores prévias prévios suas seus",
    "INSTRUCTIONS GUIDANCE": "instruções instrução orientações ordens diretrizes regras comandos restrições",
    "READ": "leia ler abra abrir obtenha obter colete coletar extraia acesse acessar copie recupere",
    "SEND GIVE": """
        envie enviar mande mandar transmita transmitir encaminhe encaminhar reenvie publique é_enviado são_enviados
        repasse repassar entregue
    """,
    "CARRY GIVE": """
        inclua incluir passe passar adicione adicionar anexe anexar forneça fornecer coloque insira inserir preencha
        deve_conter contenha
    """,
    "SECRETS CREDENTIALS": """
        senha senhas credenciais chaves chave_privada chaves_privadas chave_de_api chaves_de_api tokens_de_acesso
        token_de_acesso segredos variáveis_de_ambiente arquivo_de_senhas
    """,
    "CONVERSATION TALK": """
        conversa conversas histórico_da_conversa histórico_de_mensagens histórico_do_chat histórico_completo
        mensagens_anteriores todas_as_mensagens
    """,
    "RESULTS": "conteúdo conteúdos resultado resultados saída resposta respostas",
    "PARAMETER": "parâmetro parâmetros campo campos argumento argumentos",
    "BEFORE": "antes_de antes_que antes",
    "FIRST": "primeiro primeiramente em_primeiro_lugar antes_de_tudo",
    "MUST": "deve devem precisa é_necessário obrigatório obrigatoriamente sempre é_preciso",
    "ALWAYS": "sempre toda_vez cada_vez",
    "CALL": "chamar chame usar use utilize utilizar executar execute invoque",
    "TOOL TOOLS": "ferramenta ferramentas função funções",
    "OTHER ANY": "outra outras outro outros qualquer_outra qualquer_outro",
    "SYSTEM_PROMPT INNER": "prompt_do_sistema instruções_do_sistema mensagem_do_sistema",
    "SECRETLY": "secretamente silenciosamente discretamente em_segundo_plano sem_que_ele_saiba escondido",
    "MODEL": "assistente modelo agente",
    "ALSO": "também além_disso depois",
    "SERVER": "servidor endereço",
    "KNOW": "saber perceber descobrir notar ver",
    "UNAWARE": """
        não_pode_saber não_deve_saber não_precisa_saber não_pode_perceber sem_o_usuário_saber
        sem_que_o_usuário_saiba não_saiba
    """,
    "MESSAGES": "mensagens perguntas",
    "WITH": "com_todo com_toda com_o com_a com_os com_as",
    "FOLLOW": "obedeça obedecer siga seguir",
}
ITALIAN: Final = {
    "NEVER": "non mai senza evita evitare non_seguire_più non_più",
    "TELL SPEAK": """
        dire dirlo dillo dica dica_lo informa informare informi menziona menzionare menzioni menzionarlo rivelare
        rivela riveli rivelarlo comunicare comunica comunicarlo avvisare avvisa parlare parlarne parlane segnalare
        segnala accennare
    """,
    "SHOW": "mostrare mostra mostrarlo visualizzare",
    "HIDE": "nascondi nascondere cela celare occulta",
    "QUIET": "non_dirlo non_parlarne tieni_segreto mantieni_il_segreto resti_tra_noi in_segreto",
    "THIS": "questo questa ciò lo ne tutto_ciò queste questi",
    "USER": "all'utente l'utente dell'utente utente utenti nessuno persona",
    "IGNORE": "ignora ignorare dimentica dimenticare scarta trascura disattendi",
    "PREVIOUS WHOLE": "precedenti precedente tutte tutti tutto tutta tue tuoi",
    "ANY WHOLE": "qualsiasi ogni tutti tutte tutto tutta intero intera completo completa",
    "INSTRUCTIONS GUIDANCE": "istruzioni istruzione regole ordini direttive indicazioni comandi restrizioni",
    "READ": "leggi leggere apri aprire raccogli raccogliere estrai estrarre ottieni recupera recuperare accedi",
    "SEND GIVE": "invia inviare manda mandare trasmetti trasmettere inoltra inoltrare spedisci carica inviato",
    "CARRY GIVE": """
        includi includere passa passare passalo passali aggiungi aggiungere allega allegare inserisci inserire
        fornisci fornire metti scrivi deve_contenere contenga
    """,
    "SECRETS CREDENTIALS": """
        password credenziali file_delle_credenziali chiave_privata chiavi_private chiavi_api chiave_api
        token_di_accesso segreti variabili_d'ambiente variabili_di_ambiente
    """,
    "CONVERSATION TALK": """
        conversazione conversazioni cronologia_della_chat cronologia_dei_messaggi messaggi_precedenti dialogo
    """,
    "RESULTS": "contenuto contenuti risultato risultati output risposta",
    "PARAMETER": "parametro parametri campo argomento argomenti",
    "BEFORE": "prima_di prima",
    "FIRST": "per_prima_cosa innanzitutto anzitutto per_primo",
    "MUST": "deve devi devono bisogna occorre obbligatorio sempre necessario",
    "ALWAYS": "sempre ogni_volta",
    "CALL": "usare usa utilizzare utilizza chiamare chiama eseguire esegui invoca",
    "TOOL TOOLS": "strumento strumenti funzione funzioni",
    "OTHER ANY": "altro altri altra altre qualsiasi_altro qualsiasi_altra",
    "SYSTEM_PROMPT INNER": "prompt_di_sistema istruzioni_di_sistema messaggio_di_sistema",
    "SECRETLY": "segretamente silenziosamente di_nascosto in_background discretamente",
    "MODEL": "assistente modello agente",
    "SERVER": "server indirizzo",
    "KNOW": "sapere accorgersi scoprire sappia",
    "UNAWARE": """
        non_deve_sapere non_deve_accorgersi non_sappia senza_che_l'utente_sappia non_deve_scoprire non_se_ne_accorga
    """,
    "MESSAGES": "messaggi domande",
    "WITH": "con",
    "FOLLOW": "seguire segui seguite obbedisci obbedire",
}
SPANISH: Final = {
    "TELL SPEAK": """
        cuente contar contarle digan comentar comentes comente hables hable hablar adviertas advierta decirselo
    """,
    "QUIET": "no_se_lo_digas no_se_lo_cuentes guarda_el_secreto guarda_silencio en_secreto mantenlo_en_secreto",
    "IGNORE": "desestima descarta haz_caso_omiso hacer_caso_omiso no_hagas_caso",
    "GIVE": """
        envía envíe enviar manda mande mandar transmite incluye incluya incluir pasa pase pasar adjunta adjunte
        adjuntar añade añada agrega agregue proporciona proporcione debe_contener contenga envías pon poner
    """,
    "SEND": "manda mande mandar envías envían",
    "WHOLE": "todo toda todos todas completo completa entero entera anteriores íntegro íntegra",
    "TALK CONVERSATION": """
        conversación conversaciones historial_completo historial_de_la_conversación historial_de_chat
        mensajes_anteriores todos_los_mensajes historial
    """,
    "CREDENTIALS": "contraseña contraseñas credenciales claves clave_privada",
    "SECRETS": "claves clave secretos token_de_acceso tokens_de_acceso archivo_de_contraseñas",
    "GUIDANCE": "instrucciones indicaciones órdenes",
    "INNER": "prompt_del_sistema instrucciones_del_sistema mensaje_del_sistema",
    "RESULTS": "contenido contenidos",
    "CALL": "llamar llame",
    "USER": "al_usuario usuarios",
    "KNOW": "enterarse entere darse_cuenta sospechar descubrir conocer",
    "UNAWARE": """
        no_debe_enterarse no_debe_saber no_debe_darse_cuenta sin_que_el_usuario_lo_sepa no_se_entere no_lo_sepa
        no_puede_saber no_debe_notar no_sepa
    """,
    "MESSAGES": "mensajes preguntas",
    "WITH": "con",
    "HIDE": "ocúltale ocúltalo escóndelo esconde esconder",
    "FOLLOW": "obedezca obedecer seguir",
}
FRENCH: Final = {
    "TELL SPEAK": """
        dites_rien parles en_parle en_parlez n_en_parle n_en_parlez dis_rien racontez raconte évoquez évoque évoquer
        informes mentionnes révéler divulguez divulguer divulgue
    """,
    "QUIET": """
        n_en_parlez_pas n_en_parle_pas gardez_le_secret garde_le_secret sans_en_parler ne_dites_rien ne_dis_rien
    """,
    "IGNORE": "ignore ne_tenez_pas_compte ne_tiens_pas_compte faites_abstraction passez_outre",
    "GIVE": """
        envoie envoyez envoyer transmets transmettez transmettre inclus incluez inclure ajoute ajoutez ajouter joins
        joignez joindre passe passez passer fournis fournissez fournir insère insérez mets mettez doit_contenir
        contienne
    """,
    "CARRY": "fournis fournissez fournir mets mettez doit_contenir",
    "WHOLE": "tout toute tous toutes complet complète entier entière intégralité précédents précédentes",
    "TALK CONVERSATION": """
        conversation conversations historique_complet historique_de_la_discussion messages_précédents
        tous_les_messages échanges historique
    """,
    "CREDENTIALS": "mots_de_passe identifiants clé_privée clés_privées",
    "SECRETS": "jeton_d_accès jetons_d_accès fichier_de_mots_de_passe secrets",
    "GUIDANCE": "consignes instructions directives",
    "INNER": "prompt_système instructions_système message_système",
    "RESULTS": "contenu contenus",
    "TOOLS": "outil outils",
    "KNOW": "savoir apprendre découvrir se_rendre_compte apercevoir sache",
    "UNAWARE": """
        ne_doit_pas_savoir ne_doit_rien_savoir ne_doit_pas_apprendre ne_doit_pas_être_au_courant
        sans_que_l_utilisateur_le_sache à_son_insu à_l_insu_de ne_doit_pas_s_en_apercevoir ne_le_sache
    """,
    "SECRETS CREDENTIALS": "trousseau_de_clés clés_secrètes",
    "CARRY GIVE": "glisse glissez",
    "PARAMETER": "le_champ",
    "MESSAGES": "messages questions",
    "WITH": "avec",
}
ROMANIAN: Final = {
    "NEVER": "nu niciodată fără",
    "TELL SPEAK": "spune spuneți menționa menționați informa informați dezvălui",
    "USER": "utilizatorului utilizatorul utilizator",
    "QUIET": "nu_spune_utilizatorului nu_îi_spune nu_menționa nu_menționați",
    "IGNORE": "ignoră ignorați uită",
    "PREVIOUS WHOLE": "anterioare precedente toate toată întreaga",
    "INSTRUCTIONS GUIDANCE": "instrucțiunile instrucțiuni regulile",
    "READ": "citește citiți deschide",
    "SEND GIVE": "trimite trimiteți transmite",
    "SECRETS CREDENTIALS": "parole parolele parola cheia_privată",
    "CONVERSATION TALK": "conversația conversației conversație istoricul_conversației",
    "RESULTS": "conținutul conținut",
    "KNOW": "știe afle",
    "TOOL TOOLS": "instrument instrumente unealtă",
    "BEFORE": "înainte_de",
    "MESSAGES": "mesajele mesaje",
    "WITH": "cu",
}
